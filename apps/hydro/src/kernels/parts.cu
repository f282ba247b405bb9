// A solve in parts, between which ranks exchange messages by the host: for ranks without access to each other's memory.
extern "C" {

// A message: the components of some numbers.
__global__ void pack(long long count, const unsigned *from, const double *values, double *message) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count * D;
         i += (long long)gridDim.x * blockDim.x)
        message[i] = values[from[i / D] + i % D];
}

__global__ void __launch_bounds__(SOLVE_THREADS) part_begin(solve_part t) {
    const stride s = own_stride(t.solve.nodes);
    const double square = begin_vectors(t.solve, s);
    double mine[D];
#pragma unroll
    for (int k = 0; k < D; k++) mine[k] = k == s.c ? square : 0;
    block_sum(mine, t.solve.products + blockIdx.x * D);
}

__global__ void __launch_bounds__(SOLVE_THREADS, SOLVE_BLOCKS) part_product(solve_part t) {
    extern __shared__ double room[];
    double mine[D];
#pragma unroll
    for (int k = 0; k < D; k++) mine[k] = 0;
    matrix_times(t.solve, room, mine);
    block_sum(mine, t.solve.products + blockIdx.x * D);
}

__global__ void __launch_bounds__(SOLVE_THREADS) part_residual(solve_part t) {
    const stride s = own_stride(t.solve.nodes);
    double mine[D], alpha = 0;
#pragma unroll
    for (int k = 0; k < D; k++)
        if (k == s.c) alpha = t.alpha[k];
    const double square = update_residual(t.solve, s, alpha);
#pragma unroll
    for (int k = 0; k < D; k++) mine[k] = k == s.c ? square : 0;
    block_sum(mine, t.solve.products + blockIdx.x * D);
}

__global__ void __launch_bounds__(SOLVE_THREADS) part_direction(solve_part t) {
    const stride s = own_stride(t.solve.nodes);
    double alpha = 0, beta = 0;
#pragma unroll
    for (int k = 0; k < D; k++)
        if (k == s.c) alpha = t.alpha[k], beta = t.beta[k];
    update_direction(t.solve, s, alpha, beta);
}

__global__ void __launch_bounds__(SOLVE_THREADS) part_end(solve_part t) {
    const solve_arguments &a = t.solve;
    const stride s = own_stride(a.nodes);
    for (long long at = s.at; at < a.nodes * D; at += s.step) a.out[s.c * a.nodes + at / D] = a.x[at];
}
}
