/* The same product with compensated sums (Ogita, Rump, Oishi 2005): as if in twice the precision. */
#include <math.h>
#include <stddef.h>

void dgemm(double *c, const double *a, const double *b) {
#pragma omp parallel for
    for (ptrdiff_t i = 0; i < n; i++) {
        double high[n], low[n];
        for (ptrdiff_t j = 0; j < n; j++) {
            high[j] = c[i * n + j];
            low[j] = 0.0;
        }
        for (ptrdiff_t k = 0; k < n; k++) {
            const double x = a[i * n + k];
            for (ptrdiff_t j = 0; j < n; j++) {
                const double p = x * b[k * n + j];
                const double e = fma(x, b[k * n + j], -p);
                const double s = high[j] + p;
                const double z = s - high[j];
                low[j] += (high[j] - (s - z)) + (p - z) + e;
                high[j] = s;
            }
        }
        for (ptrdiff_t j = 0; j < n; j++) c[i * n + j] = high[j] + low[j];
    }
}
