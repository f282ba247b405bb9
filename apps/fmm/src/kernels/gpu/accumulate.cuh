// Sums over sources: from memory of any kind, or from the lanes of a warp by shuffles.
__device__ __forceinline__ real4 source(const real4 *p) {
#if WIDTH == 4
    return *p;
#elif WIDTH == 2
    const real2 *at = (const real2 *)p, a = at[0], b = at[1];
    return {a.x, a.y, b.x, b.y};
#else
    const real *at = (const real *)p;
    return {at[0], at[1], at[2], at[3]};
#endif
}

// `more` are charges after the first, IN - 1 a source.
template <int masked>
__device__ __forceinline__ void accumulate(real (*sum)[OUT], const real (*t)[3], const real4 *s, const real *more, int count, real k) {
#pragma unroll UNROLL
    for (int j = 0; j < count; j++) {
        const real4 p = source(s + j);
        real q[IN];
        q[0] = p.w;
#pragma unroll
        for (int c = 1; c < IN; c++) q[c] = more[j * (IN - 1) + c - 1];
#pragma unroll
        for (int i = 0; i < TARGETS; i++)
            pair<GRADIENT, masked>(sum[i], q, k, t[i][0] - p.x, t[i][1] - p.y, t[i][2] - p.z);
    }
}

// One source per lane, in registers; all lanes of a warp must call it.
template <int masked>
__device__ __forceinline__ void accumulate_shuffled(real (*sum)[OUT], const real (*t)[3], const real4 *s, const real *more, int count,
                                           real k) {
    const int lane = threadIdx.x & 31;
    for (int base = 0; base < count; base += 32) {
        const int n = count - base < 32 ? count - base : 32, j = base + (lane < n ? lane : 0);
        const real4 lane_source = source(s + j);
        real mine[IN];
        mine[0] = lane_source.w;
#pragma unroll
        for (int c = 1; c < IN; c++) mine[c] = more[j * (IN - 1) + c - 1];
#pragma unroll UNROLL
        for (int u = 0; u < n; u++) {
            const real x = __shfl_sync(~0u, lane_source.x, u), y = __shfl_sync(~0u, lane_source.y, u), z = __shfl_sync(~0u, lane_source.z, u);
            real q[IN];
#pragma unroll
            for (int c = 0; c < IN; c++) q[c] = __shfl_sync(~0u, mine[c], u);
#pragma unroll
            for (int i = 0; i < TARGETS; i++)
                pair<GRADIENT, masked>(sum[i], q, k, t[i][0] - x, t[i][1] - y, t[i][2] - z);
        }
    }
}
