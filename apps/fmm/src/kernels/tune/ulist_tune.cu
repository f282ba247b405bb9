// U lists with arguments that a tuning problem can give: leaves of `most` points each.
#define DOUBLE elem
#define KERNEL 0
#define SLOPES 0
#include "../gpu/pair.cuh"
#include "../gpu/take.cuh"
#include "../gpu/expanded.cuh"
#include "../gpu/near.cu"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
near_at(const real4 *places, const real *x, const real *y, const real *z, const int *ranges, const int *counts, real *out) {
    const int parts = (most + THREADS * TARGETS - 1) / (THREADS * TARGETS), each = (most + parts - 1) / parts;
    const int leaf = blockIdx.x / parts, part = blockIdx.x % parts, left = most - part * each;
    const int item[5] = {leaf * most + part * each, left < each ? left : each, 12 * leaf, counts[leaf], 1};
    // Sums are added: these begin at 0, however often the kernel runs.
    for (int i = threadIdx.x; i < item[1]; i += THREADS) out[item[0] + i] = 0;
    __syncthreads();
    near_item(item, places, nullptr, x, y, z, ranges, out, 0, 0);
}
