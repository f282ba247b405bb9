// U lists: points of leaves with the points of leaves beside them. A block takes one item: up to THREADS * TARGETS
// targets of a leaf, TARGETS a thread. Sources come straight from the cache (TILE 0), through registers of a warp, one a
// lane, shown by shuffles (TILE 1), or through shared memory TILE at a time. WIDTH numbers are loaded at once. UNROLL
// sources in a turn of the loop. BLOCKS of a multiprocessor that registers are kept for. FORM 1: expanded.cuh (TILE 1, or
// 32 of each warp's own).
//
// places: x, y, z and the first charge of each source; more: the other IN - 1 charges.
// An item: its first target, its targets, first range, ranges, and how many of these are the leaf's own (0 or 1): only
// there can a source be at a target's place.
#if FORM == 0
__device__ __forceinline__ void near_item(const int *item, const real4 *places, const real *more, const real *x,
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
                s[j] = places[base + j];
                for (int c = 0; c < IN - 1; c++) m[j * (IN - 1) + c] = others[(long long)(base - from + j) * (IN - 1) + c];
            }
            __syncthreads();
            // A warp whose targets are none waits only.
            if ((int)(threadIdx.x & ~31) < count) {
                if (r < item[4]) take<1>(sum, t, s, m, n, k);
                else take<0>(sum, t, s, m, n, k);
            }
        }
#elif TILE == 1
        if ((int)(threadIdx.x & ~31) < count) {
            if (r < item[4]) take_shown<1>(sum, t, places + from, others, to - from, k);
            else take_shown<0>(sum, t, places + from, others, to - from, k);
        }
#else
        if (r < item[4]) take<1>(sum, t, places + from, others, to - from, k);
        else take<0>(sum, t, places + from, others, to - from, k);
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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
near_points(const real4 *places, const real *more, const real *x, const real *y, const real *z, const int *items,
            const int *ranges, real *out, long long stride, real k) {
    near_item(items + 5 * blockIdx.x, places, more, x, y, z, ranges, out, stride, k);
}
