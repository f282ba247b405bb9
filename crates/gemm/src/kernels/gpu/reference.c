/* The same product: of real doubles with compensated sums (Ogita, Rump, Oishi 2005), as if in twice the precision; else
 * with sums of doubles. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if elem == 0 || elem == 2
typedef float Real;
#else
typedef double Real;
#endif
/* Real numbers of an element; complex ones lie together. */
#define REALS (elem >= 2 ? 2 : 1)

/* Column j of op(X), `rows` long, as doubles: all real parts, then all imaginary ones. */
static void column(double *to, const Real *x, int32_t rows, int64_t lines, int32_t j, int trans) {
    for (int r = 0; r < REALS; r++)
        for (int32_t i = 0; i < rows; i++) {
            const Real *from = x + REALS * (trans ? j + i * lines : i + j * lines);
            to[(size_t)r * rows + i] = r == 1 && trans == 2 ? -from[r] : from[r];
        }
}

/* high + low += the sum of x y over `count` columns of x, `step` apart, for n rows. */
static inline void add(double *high, double *low, const double *x, size_t step, const double *y,
                       int count, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        double h = high[i], l = low[i];
        for (int u = 0; u < count; u++) {
            const double a = x[u * step + i];
#if elem == 1
            const double p = a * y[u], e = fma(a, y[u], -p);
            const double s = h + p, z = s - h;
            l += (h - (s - z)) + (p - z) + e;
            h = s;
#else
            h += a * y[u];
#endif
        }
        high[i] = h, low[i] = l;
    }
}

void reference(int32_t rows, int32_t columns, int32_t depth, Real alpha, Real alpha_im,
               const Real *a, int32_t lda, const Real *b, int32_t ldb, Real beta, Real beta_im,
               Real *c, int32_t ldc) {
    const size_t m = (size_t)rows, k = (size_t)depth;
    double *all = malloc(m * k * REALS * sizeof(double));
    if (!all) abort();
    const size_t step = REALS * m;
#pragma omp parallel for
    for (int32_t q = 0; q < depth; q++) column(all + step * q, a, rows, lda, q, trans_a);
    /* Blocks of columns that read the matrix once, and of rows whose sums stay in the first cache. */
    enum { COLUMNS = 8, ROWS = 128, STEPS = 4 };
#pragma omp parallel
    {
        /* By column: real parts, imaginary ones, and those with the other sign. */
        double *y = malloc(COLUMNS * 3 * k * sizeof(double));
        if (!y) abort();
        double re[COLUMNS][2 * ROWS], im[COLUMNS][2 * ROWS];
#pragma omp for
        for (int32_t j0 = 0; j0 < columns; j0 += COLUMNS) {
            const int32_t count = columns - j0 < COLUMNS ? columns - j0 : COLUMNS;
            for (int32_t j = 0; j < count; j++) {
                double *to = y + j * 3 * k;
                column(to, b, depth, ldb, j0 + j, trans_b);
#if elem >= 2
                for (size_t q = 0; q < k; q++) to[2 * k + q] = -to[k + q];
#endif
            }
            for (int32_t i0 = 0; i0 < rows; i0 += ROWS) {
                const int32_t n = rows - i0 < ROWS ? rows - i0 : ROWS;
                memset(re, 0, sizeof re);
                memset(im, 0, sizeof im);
                for (int32_t q = 0; q < depth; q += STEPS)
                    for (int32_t j = 0; j < count; j++) {
                        const double *x = all + step * q + i0, *by = y + j * 3 * k + q;
                        double *r = re[j], *z = im[j];
                        /* The number of steps is known where the compiler unrolls. */
                        if (q + STEPS <= depth) {
                            add(r, r + ROWS, x, step, by, STEPS, n);
#if elem >= 2
                            add(r, r + ROWS, x + m, step, by + 2 * k, STEPS, n);
                            add(z, z + ROWS, x, step, by + k, STEPS, n);
                            add(z, z + ROWS, x + m, step, by, STEPS, n);
#endif
                        } else {
                            add(r, r + ROWS, x, step, by, depth - q, n);
#if elem >= 2
                            add(r, r + ROWS, x + m, step, by + 2 * k, depth - q, n);
                            add(z, z + ROWS, x, step, by + k, depth - q, n);
                            add(z, z + ROWS, x + m, step, by, depth - q, n);
#endif
                        }
                        (void)z;
                    }
                for (int32_t j = 0; j < count; j++)
                    for (int32_t i = 0; i < n; i++) {
                        Real *out = c + REALS * (i0 + i + (int64_t)(j0 + j) * ldc);
                        const double x = re[j][i] + re[j][ROWS + i];
#if elem >= 2
                        const double z = im[j][i] + im[j][ROWS + i];
                        double now_re = alpha * x - alpha_im * z, now_im = alpha * z + alpha_im * x;
                        if (beta != 0 || beta_im != 0) {
                            now_re += (double)beta * out[0] - (double)beta_im * out[1];
                            now_im += (double)beta * out[1] + (double)beta_im * out[0];
                        }
                        out[0] = (Real)now_re, out[1] = (Real)now_im;
#else
                        (void)alpha_im, (void)beta_im;
                        out[0] = (Real)(beta == 0 ? alpha * x : alpha * x + beta * out[0]);
#endif
                    }
            }
        }
        free(y);
    }
    free(all);
}
