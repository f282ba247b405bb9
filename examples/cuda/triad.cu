/* a = b + s c: a kernel to try `greenup compile` on. TILE elements per thread; set it with -D TILE=8. */
#ifndef TILE
#define TILE 4
#endif

extern "C" __global__ void triad(double *a, const double *b, const double *c, double s, long n) {
    const long first = (long)blockIdx.x * blockDim.x * TILE + threadIdx.x;
#pragma unroll
    for (int k = 0; k < TILE; k++) {
        const long i = first + (long)k * blockDim.x;
        if (i < n) a[i] = b[i] + s * c[i];
    }
}
