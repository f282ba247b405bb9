/* The triad in extended precision. */
#include <stdint.h>

void triad(double *a, const double *b, const double *c, double s, int64_t n) {
    for (int64_t i = 0; i < n; i++) a[i] = (double)(b[i] + (long double)s * c[i]);
}
