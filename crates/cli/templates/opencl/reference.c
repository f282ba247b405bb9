/* The same on the host. Only the constants are defined here. */
#include <stddef.h>

void transpose(float *b, const float *a) {
#pragma omp parallel for
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++)
            b[j * n + i] = a[i * n + j];
}
