/* The same step, unoptimised, in extended precision. */
#include <stddef.h>

void stencil(double *out, const double *in) {
    for (ptrdiff_t i = 1; i < n - 1; i++)
        for (ptrdiff_t j = 1; j < n - 1; j++) {
            const double *c = in + i * n + j;
            long double near = (long double)c[-1] + c[1] + c[-n] + c[n];
            out[i * n + j] = (double)(0.5L * c[0] + 0.125L * near);
        }
}
