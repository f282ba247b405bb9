// U lists with the arguments of a tuning problem: leaves of `ncrit` points each.
#define DOUBLE elem
#define KERNEL 0
#define GRADIENT 0
#include "../gpu/pair.cuh"
#include "../gpu/accumulate.cuh"
#include "../gpu/expanded.cuh"
#include "../gpu/p2p.cu"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
p2p_leaf(const real4 *positions, const real *x, const real *y, const real *z, const int *ranges, const int *counts, real *out) {
    const int parts = (ncrit + THREADS * TARGETS - 1) / (THREADS * TARGETS), each = (ncrit + parts - 1) / parts;
    const int leaf = blockIdx.x / parts, part = blockIdx.x % parts, left = ncrit - part * each;
    const int item[5] = {leaf * ncrit + part * each, left < each ? left : each, 12 * leaf, counts[leaf], 1};
    // The sums are added: start from 0 in each run.
    for (int i = threadIdx.x; i < item[1]; i += THREADS) out[item[0] + i] = 0;
    __syncthreads();
    p2p_item(item, positions, nullptr, x, y, z, ranges, out, 0, 0);
}
