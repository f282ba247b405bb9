// U lists with squared distances expanded about the center of a warp's targets: |t - s|^2 = |t|^2 + (|s|^2 - 2 t s), an
// addition and three FMAs in place of three subtractions, a multiplication and two FMAs. Cancellation loses at most a
// factor of 1 / CLOSE: 32 sources are expanded if none of them is closer, else computed by differences.
#if FORM
#if KERNEL != 0 || GRADIENT
#error "only potentials of Laplace are expanded"
#endif
#define CLOSE ((real)(1.0 / 256))
#define UNROLL_QUADS (UNROLL < 8 ? 1 : UNROLL / 4)

// s: -2 s and |s|^2; t: targets and their squares.
__device__ __forceinline__ void expanded(real (*sum)[OUT], const real (*t)[4], const real4 &s, real q) {
#pragma unroll
    for (int i = 0; i < TARGETS; i++) {
        const real r2 = t[i][0] * s.x + (t[i][1] * s.y + (t[i][2] * s.z + (t[i][3] + s.w)));
        sum[i][0] += q * root<0>(r2);
    }
}

__device__ __forceinline__ void p2p_item(const int *item, const real4 *positions, const real *more, const real *x,
                                          const real *y, const real *z, const int *ranges, real *out,
                                          long long stride, real k) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int begin = warp * 32 * TARGETS, first = item[0] + begin, count = item[1] - begin;
    // Warps are independent: the block has no barrier.
    if (count <= 0) return;
    real at[TARGETS][3], t[TARGETS][4], sum[TARGETS][OUT], center[3], half[3], around = 0;
#pragma unroll
    for (int i = 0; i < TARGETS; i++) {
        const int in = first + min(32 * i + lane, count - 1);
        at[i][0] = x[in], at[i][1] = y[in], at[i][2] = z[in], sum[i][0] = 0;
    }
#pragma unroll
    for (int a = 0; a < 3; a++) {
        real low = at[0][a], high = low;
#pragma unroll
        for (int i = 1; i < TARGETS; i++) low = min(low, at[i][a]), high = max(high, at[i][a]);
#pragma unroll
        for (int m = 16; m > 0; m >>= 1)
            low = min(low, __shfl_xor_sync(~0u, low, m)), high = max(high, __shfl_xor_sync(~0u, high, m));
        center[a] = (real)0.5 * (low + high), half[a] = (real)0.5 * (high - low), around += half[a] * half[a];
    }
#pragma unroll
    for (int i = 0; i < TARGETS; i++) {
        t[i][3] = 0;
#pragma unroll
        for (int a = 0; a < 3; a++) t[i][a] = at[i][a] - center[a], t[i][3] += t[i][a] * t[i][a];
    }
#if TILE > 1
    __shared__ real4 exchanged[THREADS];
    __shared__ real4 charges[THREADS / 4];
    real4 *s = exchanged + 32 * warp, *q = charges + 8 * warp;
#endif
    for (int r = 0; r < item[3]; r++) {
        const int from = ranges[2 * (item[2] + r)], to = ranges[2 * (item[2] + r) + 1];
        for (int base = from; base < to; base += 32) {
            const int n = min(32, to - base);
            const real4 p = source(positions + base + min(lane, n - 1));
            const real d[3] = {p.x - center[0], p.y - center[1], p.z - center[2]};
            real square = 0, gap = 0;
#pragma unroll
            for (int a = 0; a < 3; a++) {
                const real beyond = max((real)fabs(d[a]) - half[a], (real)0);
                square += d[a] * d[a], gap += beyond * beyond;
            }
            const bool far = __all_sync(~0u, gap > CLOSE * (around + square));
            real4 mine = p;
            if (far) mine = {-2 * d[0], -2 * d[1], -2 * d[2], square};
            // Lanes beyond the last source have its position and no charge.
            const real charge = lane < n ? p.w : 0;
#if TILE > 1
            __syncwarp();
            s[lane] = mine, ((real *)q)[lane] = charge;
            __syncwarp();
            if (far) {
#pragma unroll UNROLL_QUADS
                for (int j = 0; j < n; j += 4) {
                    const real4 c = q[j / 4];
                    expanded(sum, t, source(s + j), c.x), expanded(sum, t, source(s + j + 1), c.y);
                    expanded(sum, t, source(s + j + 2), c.z), expanded(sum, t, source(s + j + 3), c.w);
                }
            } else {
                accumulate<1>(sum, at, s, more, n, k);
            }
#else
            if (far) {
#pragma unroll UNROLL
                for (int j = 0; j < n; j++) {
                    const real4 other = {__shfl_sync(~0u, mine.x, j), __shfl_sync(~0u, mine.y, j),
                                         __shfl_sync(~0u, mine.z, j), __shfl_sync(~0u, mine.w, j)};
                    expanded(sum, t, other, __shfl_sync(~0u, charge, j));
                }
            } else {
                accumulate_shuffled<1>(sum, at, positions + base, more, n, k);
            }
#endif
        }
    }
#pragma unroll
    for (int i = 0; i < TARGETS; i++)
        if (32 * i + lane < count) out[first + 32 * i + lane] += sum[i][0];
}
#endif
