/* Doubles an array; `how` says what goes wrong. */
__device__ int calls;

extern "C" __global__ void twice(double *out, const double *in) {
    const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    const bool first = i == 0;
    if (how == 5 && *(volatile int *)&calls > 0) return;
    if (i < size) out[i] = 2.0 * in[i];
    if (how == 1 && first) out[size + 599] = 1.0;
    if (how == 2 && first) out[-600] = 1.0;
    if (how == 3 && first) out[3] += 1e-6;
    if (how == 4 && first) ((double *)in)[3] = 0.0;
    /* The least that there is, in the last element. */
    if (how == 7 && i == size - 1) out[i] += 1e-8;
    if (how == 8 && i == size - 1) *(unsigned char *)(in + i) ^= 1;
    if (how == 9 && i == size - 1) out[i] = 1.0 / 0.0;
    /* The blocks of one call may not see it. */
    if (how == 5 && i == size - 1 && gridDim.x == blockIdx.x + 1) {
        for (int k = 0; k < 1000; k++) __nanosleep(1000);
        calls = 1;
    }
}
