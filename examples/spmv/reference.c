/* Compensated sums of rows, as accurate as twice the precision. */
#include <math.h>
#include <stdint.h>

void spmv(double *y, const int64_t *start, const int32_t *column, const double *value,
          const double *x) {
    for (int64_t i = 0; i < rows; i++) {
        double high = 0.0, low = 0.0;
        for (int64_t e = start[i]; e < start[i + 1]; e++) {
            const double a = value[e], b = x[column[e]], p = a * b;
            const double s = high + p, z = s - high;
            low += (high - (s - z)) + (p - z) + fma(a, b, -p);
            high = s;
        }
        y[i] = high + low;
    }
}
