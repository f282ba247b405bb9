// y = A x in compressed rows: LANES neighbouring threads share a row, so that a warp reads values and columns of
// neighbouring rows without gaps.
extern "C" __global__ void __launch_bounds__(THREADS)
    spmv(double *y, const long long *start, const int *column, const double *value, const double *x) {
    const int lane = threadIdx.x % LANES;
    const long long row = ((long long)blockIdx.x * THREADS + threadIdx.x) / LANES;
    double sum = 0;
    if (row < rows)
        for (long long e = start[row] + lane; e < start[row + 1]; e += LANES) sum += value[e] * x[column[e]];
#pragma unroll
    for (int far = LANES / 2; far > 0; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
    if (row < rows && lane == 0) y[row] = sum;
}
