/* The same product with compensated sums (Ogita, Rump, Oishi 2005): as if in twice the precision. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void reference(int32_t rows, int32_t columns, int32_t depth, double alpha, double alpha_im,
               const double *a, int32_t lda, const double *b, int32_t ldb, double beta,
               double beta_im, double *c, int32_t ldc) {
    (void)alpha_im, (void)beta_im;
#pragma omp parallel
    {
        double *high = malloc(2 * (size_t)rows * sizeof(double)), *low = high + rows;
        if (!high) abort();
#pragma omp for
        for (int32_t j = 0; j < columns; j++) {
            for (int32_t i = 0; i < rows; i++) high[i] = low[i] = 0.0;
            for (int32_t q = 0; q < depth; q++) {
                const double y = trans_b ? b[j + (int64_t)q * ldb] : b[q + (int64_t)j * ldb];
                for (int32_t i = 0; i < rows; i++) {
                    const double x = trans_a ? a[q + (int64_t)i * lda] : a[i + (int64_t)q * lda];
                    const double p = x * y, e = fma(x, y, -p);
                    const double s = high[i] + p, z = s - high[i];
                    low[i] += (high[i] - (s - z)) + (p - z) + e;
                    high[i] = s;
                }
            }
            double *out = c + (int64_t)j * ldc;
            for (int32_t i = 0; i < rows; i++) {
                const double sum = alpha * (high[i] + low[i]);
                out[i] = beta == 0.0 ? sum : sum + beta * out[i];
            }
        }
        free(high);
    }
}
