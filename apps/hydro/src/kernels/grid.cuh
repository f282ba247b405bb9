// The blocks of a kernel that all run at once: they wait for each other, and sum what they have in a fixed order.
extern "C" {

// Waits for all blocks. `grid_barrier` is {arrived, generation, meetings of GPUs, whether the run ends}, zero
// at first.
__device__ void together(unsigned *grid_barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned generation = atomicAdd(grid_barrier + 1, 0u);
        if (atomicAdd(grid_barrier, 1u) == gridDim.x - 1) {
            grid_barrier[0] = 0;
            __threadfence();
            atomicAdd(grid_barrier + 1, 1u);
        } else {
            while (atomicAdd(grid_barrier + 1, 0u) == generation) __nanosleep(40);
        }
        __threadfence();
    }
    __syncthreads();
}

// Sums D numbers of each thread over the block, into `to`.
__device__ void block_sum(const double *mine, double *to) {
    __shared__ double warps[D][32];
    const int warp = threadIdx.x / 32;
    for (int c = 0; c < D; c++) {
        double s = mine[c];
        for (int step = 16; step > 0; step /= 2) s += __shfl_down_sync(0xffffffffu, s, step);
        if (threadIdx.x % 32 == 0) warps[c][warp] = s;
    }
    __syncthreads();
    if (threadIdx.x < D) {
        double s = 0;
        for (int w = 0; w < (blockDim.x + 31) / 32; w++) s += warps[threadIdx.x][w];
        to[threadIdx.x] = s;
    }
    __syncthreads();
}

// The sums of all blocks, the same in each.
__device__ void all_sums(const double *of_blocks, double *out) {
    double mine[D];
    for (int c = 0; c < D; c++) {
        mine[c] = 0;
        for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) mine[c] += __ldcg(of_blocks + b * D + c);
    }
    block_sum(mine, out);
}
}
