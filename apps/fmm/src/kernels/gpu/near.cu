// U lists: points of leaves with the points of leaves beside them. A block takes one item: up to THREADS * TARGETS
// targets of a leaf, TARGETS a thread. Sources come through shared memory TILE at a time, or (TILE 0) straight from the
// cache. UNROLL sources in a turn of the loop. BLOCKS of a multiprocessor that registers are kept for.
//
// places: x, y, z and the first charge of each source; more: the other IN - 1 charges.
// An item: its first target, its targets, first range, ranges, and how many of these are the leaf's own (0 or 1): only
// there can a source be at a target's place.
template <int masked>
__device__ __forceinline__ void take(real (*sum)[OUT], const real (*t)[3], const real4 *s, const real *more, int count, real k) {
#pragma unroll UNROLL
    for (int j = 0; j < count; j++) {
        const real4 p = s[j];
        real q[IN];
        q[0] = p.w;
#pragma unroll
        for (int c = 1; c < IN; c++) q[c] = more[j * (IN - 1) + c - 1];
#pragma unroll
        for (int i = 0; i < TARGETS; i++)
            pair<SLOPES, masked>(sum[i], q, k, t[i][0] - p.x, t[i][1] - p.y, t[i][2] - p.z);
    }
}

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
#if TILE
    __shared__ real4 s[TILE];
    __shared__ real m[TILE * (IN - 1) + 1];
#endif
    for (int r = 0; r < item[3]; r++) {
        const int from = ranges[2 * (item[2] + r)], to = ranges[2 * (item[2] + r) + 1];
#if TILE
        for (int base = from; base < to; base += TILE) {
            const int n = to - base < TILE ? to - base : TILE;
            __syncthreads();
            for (int j = threadIdx.x; j < n; j += THREADS) {
                s[j] = places[base + j];
                for (int c = 0; c < IN - 1; c++) m[j * (IN - 1) + c] = more[(long long)(base + j) * (IN - 1) + c];
            }
            __syncthreads();
            // A warp whose targets are none waits only.
            if ((int)(threadIdx.x & ~31) < count) {
                if (r < item[4]) take<1>(sum, t, s, m, n, k);
                else take<0>(sum, t, s, m, n, k);
            }
        }
#else
        if (r < item[4]) take<1>(sum, t, places + from, more + (long long)from * (IN - 1), to - from, k);
        else take<0>(sum, t, places + from, more + (long long)from * (IN - 1), to - from, k);
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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
near_points(const real4 *places, const real *more, const real *x, const real *y, const real *z, const int *items,
            const int *ranges, real *out, long long stride, real k) {
    near_item(items + 5 * blockIdx.x, places, more, x, y, z, ranges, out, stride, k);
}
