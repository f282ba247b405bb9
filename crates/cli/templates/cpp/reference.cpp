// The same without tiles, in extended precision. Only the constants are defined here.
#include <stddef.h>

extern "C" void multiply(double *c, const double *a, const double *b) {
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) {
            long double sum = 0;
            for (ptrdiff_t k = 0; k < n; k++)
                sum += (long double)a[i * n + k] * b[k * n + j];
            c[i * n + j] = (double)sum;
        }
}
