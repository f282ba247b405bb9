// The instructions of the P2P kernel without traffic to memory beyond a multiprocessor: their rate is the refined peak
// (thesis, section 3.4.4). Macros as in p2p.cu.
struct Mix {
    // Steps of a closed walk with their charges (STEPS), then starts of targets (STARTS), then a tile of sources (MIX_TILE).
    const real4 *positions;
    real *out;
    long long rounds;
    double parameter;
};
static_assert(sizeof(Mix) == MIX_BYTES, "Mix");

#define STEPS 8
#define STARTS 1024
#define MIX_TILE 128

__device__ __forceinline__ void mix_starts(real (*t)[3], const Mix &a) {
#pragma unroll
    for (int i = 0; i < TARGETS; i++) {
        const real4 p = a.positions[STEPS + ((blockIdx.x * THREADS + threadIdx.x) * TARGETS + i) % STARTS];
        t[i][0] = p.x, t[i][1] = p.y, t[i][2] = p.z;
    }
}

__device__ __forceinline__ void mix_sums(const real (*sum)[OUT], const Mix &a) {
#pragma unroll
    for (int i = 0; i < TARGETS; i++)
#pragma unroll
        for (int c = 0; c < OUT; c++)
            a.out[((blockIdx.x * THREADS + threadIdx.x) * TARGETS + i) * OUT + c] = sum[i][c];
}

// Arithmetic alone, fully unrolled: neither loads nor addresses. Each difference is that to the source before less a step, so
// that nothing stays the same from round to round, at the cost of the subtraction that the kernel has too.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) mix_unrolled(Mix a) {
    real d[TARGETS][3], sum[TARGETS][OUT], step[STEPS][3], charge[STEPS];
#pragma unroll
    for (int i = 0; i < TARGETS; i++)
#pragma unroll
        for (int c = 0; c < OUT; c++) sum[i][c] = 0;
    mix_starts(d, a);
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
        const real4 p = a.positions[j];
        step[j][0] = p.x, step[j][1] = p.y, step[j][2] = p.z, charge[j] = p.w;
    }
    for (long long round = 0; round < a.rounds; round++)
#pragma unroll
        for (int j = 0; j < STEPS; j++) {
            real q[IN];
#pragma unroll
            for (int c = 0; c < IN; c++) q[c] = charge[j];
#pragma unroll
            for (int i = 0; i < TARGETS; i++) {
#pragma unroll
                for (int k = 0; k < 3; k++) d[i][k] -= step[j][k];
                pair<GRADIENT, 0>(sum[i], q, (real)a.parameter, d[i][0], d[i][1], d[i][2]);
            }
        }
    mix_sums(sum, a);
}

// The kernel's own loop over a tile in shared memory, with its loads, addresses and branches.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) mix_loop(Mix a) {
    __shared__ real4 s[MIX_TILE];
    __shared__ real m[MIX_TILE * (IN - 1) + 1];
    real t[TARGETS][3], sum[TARGETS][OUT];
#pragma unroll
    for (int i = 0; i < TARGETS; i++)
#pragma unroll
        for (int c = 0; c < OUT; c++) sum[i][c] = 0;
    mix_starts(t, a);
    for (int j = threadIdx.x; j < MIX_TILE; j += THREADS) {
        s[j] = a.positions[STEPS + STARTS + j];
        for (int c = 0; c < IN - 1; c++) m[j * (IN - 1) + c] = s[j].w;
    }
    for (long long round = 0; round < a.rounds; round++) {
        // As between tiles; and the loads of a round cannot be those of the round before.
        __syncthreads();
        accumulate<0>(sum, t, s, m, MIX_TILE, (real)a.parameter);
    }
    mix_sums(sum, a);
}
