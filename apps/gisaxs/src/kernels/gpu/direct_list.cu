// Surface sums at listed q, as on the pixels of a detector, one exponential for each node and q:
//   S1 = sum (q_x s_x + q_y s_y) e^{i q.r},  S2 = sum s_z e^{i q.r},  |e| = 2^{d z}.
// A thread keeps so many q in registers and walks the nodes, which pass through shared memory in tiles; sums of
// DEEP nodes are added in double precision. Blocks along y share the nodes among them.
//
//   bits              of the numbers: 32 or 64
//   threads, points   threads of a block, q of a thread
//   tile              nodes of a tile
//   by_hand           of 32 bits: of the q of a thread, how many take polynomials for sines (both units busy)
//   damped            q_z is complex
// Nodes: x y z s_x s_y s_z 0 0, padded with zeros to whole tiles. q in turns (over 2 pi), [x y z d][q].
// out: [share of the nodes][Re S1, Im S1, Re S2, Im S2][q].

#include "sine.cuh"

#if bits == 32
typedef float real;
#define DEEP 2048
#else
typedef double real;
#define DEEP (1 << 30)
#endif

template <int n> __device__ __forceinline__ void wave(real p, real *s, real *c) {
#if bits == 32
    if (n < by_hand)
        by_polynomial(p, s, c);
    else
        by_hardware<true>(p, s, c);
#else
    sincospi(2 * p, s, c);
#endif
}

__device__ __forceinline__ real power(real x) {
#if bits == 32
    return exp2f(x);
#else
    return exp2(x);
#endif
}

// The first q apart, so that by_hand is known when it compiles.
template <int n> struct Add {
    __device__ static __forceinline__ void all(const real (&q)[4][points], const real *a, real (&sum)[points][4]) {
        Add<n - 1>::all(q, a, sum);
        constexpr int j = n - 1;
        real s, c;
        wave<j>(q[0][j] * a[0] + q[1][j] * a[1] + q[2][j] * a[2], &s, &c);
        const real size = damped ? power(q[3][j] * a[2]) : (real)1;
        const real w1 = (q[0][j] * a[3] + q[1][j] * a[4]) * size, w2 = a[5] * size;
        sum[j][0] += w1 * c;
        sum[j][1] += w1 * s;
        sum[j][2] += w2 * c;
        sum[j][3] += w2 * s;
    }
};
template <> struct Add<0> {
    __device__ static __forceinline__ void all(const real (&)[4][points], const real *, real (&)[points][4]) {}
};

extern "C" __global__ void __launch_bounds__(threads)
    list(long long nodes, const real *node, long long count, const real *q, double *out) {
    __shared__ real held[8 * tile];
    const long long first = (long long)blockIdx.x * threads * points + threadIdx.x;
    real at[4][points];
#pragma unroll
    for (int j = 0; j < points; j++)
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const long long n = first + j * threads;
            at[m][j] = n < count ? q[m * count + n] : (real)0;
        }
    double all[points][4];
    real sum[points][4];
#pragma unroll
    for (int j = 0; j < points; j++)
#pragma unroll
        for (int m = 0; m < 4; m++) {
            all[j][m] = 0;
            sum[j][m] = 0;
        }
    const int tiles = (int)(nodes / tile), per = (tiles + gridDim.y - 1) / gridDim.y;
    const int from = min(tiles, (int)blockIdx.y * per), to = min(tiles, from + per);
    for (int t = from; t < to; t++) {
        __syncthreads();
        for (int i = threadIdx.x; i < 8 * tile; i += threads) held[i] = node[(long long)t * 8 * tile + i];
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < tile; i++) {
            real a[6];
#pragma unroll
            for (int m = 0; m < 6; m++) a[m] = held[8 * i + m];
            Add<points>::all(at, a, sum);
        }
        if ((t - from) % (DEEP / tile) == DEEP / tile - 1 || t == to - 1)
#pragma unroll
            for (int j = 0; j < points; j++)
#pragma unroll
                for (int m = 0; m < 4; m++) {
                    all[j][m] += sum[j][m];
                    sum[j][m] = 0;
                }
    }
#pragma unroll
    for (int j = 0; j < points; j++) {
        const long long n = first + j * threads;
        if (n >= count) continue;
#pragma unroll
        for (int m = 0; m < 4; m++) out[((long long)blockIdx.y * 4 + m) * count + n] = all[j][m];
    }
}
