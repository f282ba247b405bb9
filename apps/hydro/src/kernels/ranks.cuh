// Zones over several GPUs. What the zones of other GPUs contribute to a shared node is read where it lies: in the memory of
// their GPU, or in messages from them. The sum has the order of the zones of the whole, so all GPUs get the same bits.
#define SHARED_NODE 0x80000000u
#define NOT_COUNTED 0x80
extern "C" {

// A number that another GPU wrote: past the caches of this one.
__device__ __forceinline__ double remote(const double *p) { return *(const volatile double *)p; }

// Sum of the contributions to a component of shared node k.
__device__ __forceinline__ double shared_sum(const contributions &of, unsigned k, int c) {
    double sum = 0;
    unsigned s = of.begin[k];
    const unsigned end = of.begin[k + 1];
    // Two at a time: each takes about a microsecond to arrive.
    for (; s + 2 <= end; s += 2) {
        const double a = remote(of.at[s] + c), b = remote(of.at[s + 1] + c);
        sum += a;
        sum += b;
    }
    if (s < end) sum += remote(of.at[s] + c);
    return sum;
}

// Whether a rank ended, so that this one would wait in vain.
__device__ __forceinline__ bool stopped(const unsigned *grid_barrier) {
    return *(const volatile unsigned *)(grid_barrier + 3) != 0;
}

// Waits for all blocks of all GPUs; the sums of what their blocks have, GPU by GPU in their order, the same bits on each.
// Without `of_blocks` only waits. False if a rank ended.
__device__ bool together_ranks(rank_arguments t, unsigned *grid_barrier, const double *of_blocks,
                               double *sums) {
    __shared__ int last;
    unsigned generation = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        generation = atomicAdd(grid_barrier + 1, 0u);
        last = atomicAdd(grid_barrier, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        // All blocks here have arrived: this one tells the other GPUs, and waits for them.
        const unsigned number = *(volatile unsigned *)(grid_barrier + 2) + 1;
        if (of_blocks) all_sums(of_blocks, sums);
        if (threadIdx.x < t.ranks) {
            rank_meeting *to = t.meetings[threadIdx.x];
            // Two sets in turn: blocks may still read the last one.
            if (of_blocks)
                for (int c = 0; c < D; c++) *(volatile double *)&to->sums[number & 1][t.me][c] = sums[c];
            __threadfence_system();
            *(volatile unsigned *)&to->arrived[t.me] = number;
            const volatile unsigned *arrived = &t.meetings[t.me]->arrived[threadIdx.x];
            for (unsigned tries = 1; (int)(*arrived - number) < 0; tries++) {
                if (tries % 4096 == 0 && *(const volatile unsigned *)t.stop) {
                    __threadfence_system();
                    // A rank that ends after this meeting has arrived.
                    if ((int)(*arrived - number) >= 0) break;
                    *(volatile unsigned *)(grid_barrier + 3) = 1;
                    break;
                }
                __nanosleep(20);
            }
            __threadfence_system();
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            *(volatile unsigned *)(grid_barrier + 2) = number;
            *(volatile unsigned *)grid_barrier = 0;
            __threadfence();
            atomicAdd(grid_barrier + 1, 1u);
        }
    } else if (threadIdx.x == 0) {
        while (atomicAdd(grid_barrier + 1, 0u) == generation) __nanosleep(40);
        __threadfence();
    }
    __syncthreads();
    if (of_blocks && threadIdx.x < D) {
        const unsigned set = *(volatile unsigned *)(grid_barrier + 2) & 1;
        double s = 0;
        for (int rank = 0; rank < t.ranks; rank++) s += remote(&t.meetings[t.me]->sums[set][rank][threadIdx.x]);
        sums[threadIdx.x] = s;
    }
    __syncthreads();
    return !stopped(grid_barrier);
}
}
