/* Doubles an array; `how` says what goes wrong. */
#include <stdlib.h>
#include <stdio.h>

#if how == 1
#error this one does not compile
#endif

void twice(double *out, const double *in) {
    printf("kernels may print\n");
    for (long i = 0; i < size; i++) out[i] = 2.0 * in[i];
#if how == 2
    *(volatile int *)8 = 1;
#elif how == 3
    for (volatile int go = 1; go;) {}
#elif how == 4
    out[size / 2] = 0.0 / (in[0] - in[0]);
#elif how == 5
    out[size - 1] += 1e-6;
#elif how == 6
    out[size] = 1.0;
#elif how == 7
    ((double *)in)[3] = 0.0;
#elif how == 8
    exit(3);
#elif how == 9
    abort();
#endif
}
