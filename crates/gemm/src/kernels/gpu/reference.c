/* The same product with compensated sums (Ogita, Rump, Oishi 2005): as if in twice the precision. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

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

void reference(int32_t rows, int32_t columns, int32_t depth, Real alpha, Real alpha_im,
               const Real *a, int32_t lda, const Real *b, int32_t ldb, Real beta, Real beta_im,
               Real *c, int32_t ldc) {
    const size_t m = (size_t)rows;
    double *all = malloc(m * (size_t)depth * REALS * sizeof(double));
    if (!all) abort();
#pragma omp parallel for
    for (int32_t q = 0; q < depth; q++) column(all + REALS * m * q, a, rows, lda, q, trans_a);
#pragma omp parallel
    {
        double *sums = malloc((4 * m + REALS * (size_t)depth) * sizeof(double));
        if (!sums) abort();
        double *re = sums, *im = sums + 2 * m, *y = sums + 4 * m;
#pragma omp for
        for (int32_t j = 0; j < columns; j++) {
            for (size_t i = 0; i < 4 * m; i++) sums[i] = 0.0;
            column(y, b, depth, ldb, j, trans_b);
            for (int32_t q = 0; q < depth; q++) {
                const double *x = all + REALS * m * q;
                add(re, re + m, x, y[REALS * q], rows);
#if elem >= 2
                add(re, re + m, x + 1, -y[2 * q + 1], rows);
                add(im, im + m, x, y[2 * q + 1], rows);
                add(im, im + m, x + 1, y[2 * q], rows);
#endif
            }
            for (int32_t i = 0; i < rows; i++) {
                Real *out = c + REALS * (i + (int64_t)j * ldc);
                const double x = re[i] + re[m + i];
#if elem >= 2
                const double z = im[i] + im[m + i];
                double now_re = alpha * x - alpha_im * z, now_im = alpha * z + alpha_im * x;
                if (beta != 0 || beta_im != 0) {
                    now_re += (double)beta * out[0] - (double)beta_im * out[1];
                    now_im += (double)beta * out[1] + (double)beta_im * out[0];
                }
                out[0] = (Real)now_re, out[1] = (Real)now_im;
#else
                (void)alpha_im, (void)beta_im, (void)im;
                out[0] = (Real)(beta == 0 ? alpha * x : alpha * x + beta * out[0]);
#endif
            }
        }
        free(sums);
    }
    free(all);
}
