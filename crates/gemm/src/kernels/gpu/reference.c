/* The same product with compensated sums (Ogita, Rump, Oishi 2005): as if in twice the precision. */
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

/* Column j of op(X), `rows` long, as doubles. */
static void column(double *to, const Real *x, int32_t rows, int64_t lines, int32_t j, int trans) {
    for (int32_t i = 0; i < rows; i++) {
        const Real *from = x + REALS * (trans ? j + i * lines : i + j * lines);
        for (int r = 0; r < REALS; r++)
            to[REALS * i + r] = r == 1 && trans == 2 ? -from[r] : from[r];
    }
}

/* high + low += x y for n elements; one of the real numbers of each x. */
static void add(double *high, double *low, const double *x, double y, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        const double a = x[REALS * i];
        const double p = a * y, e = fma(a, y, -p);
        const double s = high[i] + p, z = s - high[i];
        low[i] += (high[i] - (s - z)) + (p - z) + e;
        high[i] = s;
    }
}

#if elem < 2
/* The same for four columns of x: the sums stay in registers. */
static void add4(double *high, double *low, const double *x, size_t step, const double *y,
                 int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        double h = high[i], l = low[i];
        for (int u = 0; u < 4; u++) {
            const double a = x[u * step + i];
            const double p = a * y[u], e = fma(a, y[u], -p);
            const double s = h + p, z = s - h;
            l += (h - (s - z)) + (p - z) + e;
            h = s;
        }
        high[i] = h, low[i] = l;
    }
}
#endif

void reference(int32_t rows, int32_t columns, int32_t depth, Real alpha, Real alpha_im,
               const Real *a, int32_t lda, const Real *b, int32_t ldb, Real beta, Real beta_im,
               Real *c, int32_t ldc) {
    const size_t m = (size_t)rows;
    double *all = malloc(m * (size_t)depth * REALS * sizeof(double));
    if (!all) abort();
#pragma omp parallel for
    for (int32_t q = 0; q < depth; q++) column(all + REALS * m * q, a, rows, lda, q, trans_a);
    /* Blocks of columns that read the matrix once, and of rows whose sums stay in the first cache. */
    enum { COLUMNS = 8, ROWS = 128 };
#pragma omp parallel
    {
        double *y = malloc(COLUMNS * REALS * (size_t)depth * sizeof(double));
        if (!y) abort();
        double re[COLUMNS][2 * ROWS], im[COLUMNS][2 * ROWS];
#pragma omp for
        for (int32_t j0 = 0; j0 < columns; j0 += COLUMNS) {
            const int32_t count = columns - j0 < COLUMNS ? columns - j0 : COLUMNS;
            for (int32_t k = 0; k < count; k++)
                column(y + k * REALS * (size_t)depth, b, depth, ldb, j0 + k, trans_b);
            for (int32_t i0 = 0; i0 < rows; i0 += ROWS) {
                const int32_t n = rows - i0 < ROWS ? rows - i0 : ROWS;
                memset(re, 0, sizeof re);
                memset(im, 0, sizeof im);
                int32_t q = 0;
#if elem < 2
                for (; q + 4 <= depth; q += 4)
                    for (int32_t k = 0; k < count; k++)
                        add4(re[k], re[k] + ROWS, all + m * q + i0, m, y + k * (size_t)depth + q,
                             n);
#endif
                for (; q < depth; q++) {
                    const double *x = all + REALS * (m * q + i0);
                    for (int32_t k = 0; k < count; k++) {
                        const double *to = y + REALS * (k * (size_t)depth + q);
                        add(re[k], re[k] + ROWS, x, to[0], n);
#if elem >= 2
                        add(re[k], re[k] + ROWS, x + 1, -to[1], n);
                        add(im[k], im[k] + ROWS, x, to[1], n);
                        add(im[k], im[k] + ROWS, x + 1, to[0], n);
#endif
                    }
                }
                for (int32_t k = 0; k < count; k++)
                    for (int32_t i = 0; i < n; i++) {
                        Real *out = c + REALS * (i0 + i + (int64_t)(j0 + k) * ldc);
                        const double x = re[k][i] + re[k][ROWS + i];
#if elem >= 2
                        const double z = im[k][i] + im[k][ROWS + i];
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
