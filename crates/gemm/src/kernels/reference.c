/* The same product with compensated sums (Ogita, Rump, Oishi 2005): as if in twice the precision. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void reference(int64_t rows, int64_t columns, int64_t depth, double *c, int64_t ldc,
               const double *a, int64_t lda, const double *b, int64_t ldb) {
#pragma omp parallel for
    for (int64_t i = 0; i < rows; i++) {
        double *high = malloc(2 * columns * sizeof(double));
        if (!high) abort();
        double *low = high + columns;
        for (int64_t j = 0; j < columns; j++) {
            high[j] = c[i * ldc + j];
            low[j] = 0.0;
        }
        for (int64_t q = 0; q < depth; q++) {
            const double x = a[i * lda + q];
            for (int64_t j = 0; j < columns; j++) {
                const double p = x * b[q * ldb + j];
                const double e = fma(x, b[q * ldb + j], -p);
                const double s = high[j] + p;
                const double z = s - high[j];
                low[j] += (high[j] - (s - z)) + (p - z) + e;
                high[j] = s;
            }
        }
        for (int64_t j = 0; j < columns; j++) c[i * ldc + j] = high[j] + low[j];
        free(high);
    }
}
