/* The products with compensated sums (Ogita, Rump, Oishi 2005): as if in twice the precision. */
#include <math.h>
#include <stdint.h>
#include <string.h>

void forces(const double *a, const double *b, double *f) {
#pragma omp parallel for
    for (int64_t z = 0; z < zones; z++) {
        const double *of_zone = a + z * rows * inner;
        double *out = f + z * rows * columns;
        for (int j = 0; j < columns; j++) {
            double high[rows], low[rows];
            memset(high, 0, sizeof high), memset(low, 0, sizeof low);
            for (int k = 0; k < inner; k++) {
                const double y = b[j + k * columns];
                for (int i = 0; i < rows; i++) {
                    const double x = of_zone[i + k * rows], p = x * y, e = fma(x, y, -p);
                    const double s = high[i] + p, w = s - high[i];
                    low[i] += (high[i] - (s - w)) + (p - w) + e;
                    high[i] = s;
                }
            }
            for (int i = 0; i < rows; i++) out[i + j * rows] = high[i] + low[i];
        }
    }
}
