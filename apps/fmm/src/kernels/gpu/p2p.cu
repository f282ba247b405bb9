// U lists: points of leaves with the points of neighbouring leaves. A block computes one item: up to THREADS * TARGETS
// targets of a leaf, TARGETS per thread. Sources are read from the cache (TILE 0), from registers of a warp, one per lane,
// by shuffles (TILE 1), or from shared memory, TILE at a time. WIDTH values are loaded at once. UNROLL
// sources per iteration. BLOCKS per multiprocessor, for the limit of registers. FORM 1: expanded.cuh (TILE 1, or
// 32 per warp).
//
// positions: x, y, z and the first charge of each source; more: the other IN - 1 charges.
// An item: its first target, its targets, first range, ranges, and how many of these are of the leaf itself (0 or
// 1): only there can a source coincide with a target.
#if FORM == 0
__device__ __forceinline__ void p2p_item(const int *item, const real4 *positions, const real *more, const real *x,
                                          const real *y, const real *z, const int *ranges, real *out,
                                          long long stride, real k) {
    const int first = item[0], count = item[1];
    real t[TARGETS][3], sum[TARGETS][OUT];
#pragma unroll
    for (int i = 0; i < TARGETS; i++) {
        const int at = threadIdx.x + i * THREADS, in = first + (at < count ? at : 0);
        t[i][0] = x[in], t[i][1] = y[in], t[i][2] = z[in];
#pragma unroll
        for (int c = 0; c < OUT; c++) sum[i][c] = 0;
    }
#if TILE > 1
    __shared__ real4 s[TILE];
    __shared__ real m[TILE * (IN - 1) + 1];
#endif
    for (int r = 0; r < item[3]; r++) {
        const int from = ranges[2 * (item[2] + r)], to = ranges[2 * (item[2] + r) + 1];
        const real *others = more + (long long)from * (IN - 1);
#if TILE > 1
        for (int base = from; base < to; base += TILE) {
            const int n = to - base < TILE ? to - base : TILE;
            __syncthreads();
            for (int j = threadIdx.x; j < n; j += THREADS) {
                s[j] = positions[base + j];
                for (int c = 0; c < IN - 1; c++) m[j * (IN - 1) + c] = others[(long long)(base - from + j) * (IN - 1) + c];
            }
            __syncthreads();
            // A warp without targets only waits.
            if ((int)(threadIdx.x & ~31) < count) {
                if (r < item[4]) accumulate<1>(sum, t, s, m, n, k);
                else accumulate<0>(sum, t, s, m, n, k);
            }
        }
#elif TILE == 1
        if ((int)(threadIdx.x & ~31) < count) {
            if (r < item[4]) accumulate_shuffled<1>(sum, t, positions + from, others, to - from, k);
            else accumulate_shuffled<0>(sum, t, positions + from, others, to - from, k);
        }
#else
        if (r < item[4]) accumulate<1>(sum, t, positions + from, others, to - from, k);
        else accumulate<0>(sum, t, positions + from, others, to - from, k);
#endif
    }
#pragma unroll
    for (int i = 0; i < TARGETS; i++) {
        const int at = threadIdx.x + i * THREADS;
        if (at < count)
#pragma unroll
            for (int c = 0; c < OUT; c++) out[c * stride + first + at] += sum[i][c];
    }
}
#endif

#ifdef P2P_BYTES
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) p2p(P2p a) {
    p2p_item(a.items + 5 * blockIdx.x, a.positions, a.more, a.x, a.y, a.z, a.ranges, a.out, a.stride, (real)a.parameter);
}
#endif
