// Conjugate gradients in one kernel whose blocks all run at once and wait for each other; and sums of states. Products
// are summed in the same order every time.
#define ZONE_ROOM (LOCAL + FIRST + SECOND)
extern "C" {

// Waits for all blocks. `grid_barrier` is {arrived, generation}, zero at first.
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

// The mass matrices of SOLVE_ZONES zones at a time times all components, [zone][local][component]; adds p M p to `mine`.
__device__ void mass_times(double *room, long long zones, const unsigned *index, const double *p, const double *mass,
                           double *own, double *mine) {
    const int fields = SOLVE_ZONES * D;
    double *field = room, *first = field + fields * LOCAL, *second = first + fields * FIRST;
    for (long long begin = (long long)blockIdx.x * SOLVE_ZONES; begin < zones;
         begin += (long long)gridDim.x * SOLVE_ZONES) {
        const int count = (int)(zones - begin < SOLVE_ZONES ? zones - begin : SOLVE_ZONES);
        for (int n = threadIdx.x; n < count * LOCAL; n += blockDim.x) {
            const int zone = n / LOCAL, i = n % LOCAL;
            const double *from = p + (long long)index[begin * LOCAL + n] * D;
#pragma unroll
            for (int c = 0; c < D; c++) field[(zone * D + c) * LOCAL + i] = __ldcg(from + c);
        }
        __syncthreads();
        // The last direction, times the mass, and back.
        double *box = D == 3 ? second : D == 2 ? first : field;
        const int size = D == 3 ? SECOND : D == 2 ? FIRST : LOCAL, inner = POINTS / Q;
#if D > 1
        lines<V, N, Q>(field, LOCAL, first, FIRST, count * D, LOCAL / N, 1);
        __syncthreads();
#endif
#if D == 3
        lines<V, N, Q>(first, FIRST, second, SECOND, count * D, N, Q);
        __syncthreads();
#endif
        for (int n = threadIdx.x; n < count * D * inner; n += blockDim.x) {
            const int f = n / inner, b = n % inner;
            double a[N], at[Q], *in = box + f * size + b, square = 0;
            const double *m = mass + (begin + f / D) * POINTS + b;
#pragma unroll
            for (int i = 0; i < N; i++) a[i] = in[i * inner];
#pragma unroll
            for (int q = 0; q < Q; q++) {
                double s = 0;
#pragma unroll
                for (int i = 0; i < N; i++) s = fma(value_table[q * N + i], a[i], s);
                at[q] = s * m[q * inner];
                square = fma(at[q], s, square);
            }
#pragma unroll
            for (int c = 0; c < D; c++) mine[c] += f % D == c ? square : 0;
#pragma unroll
            for (int i = 0; i < N; i++) {
                double s = 0;
#pragma unroll
                for (int q = 0; q < Q; q++) s = fma(value_table[q * N + i], at[q], s);
                in[i * inner] = s;
            }
        }
        __syncthreads();
#if D == 3
        lines<VT, Q, N>(second, SECOND, first, FIRST, count * D, N, Q);
        __syncthreads();
#endif
#if D > 1
        lines<VT, Q, N>(first, FIRST, field, LOCAL, count * D, LOCAL / N, 1);
        __syncthreads();
#endif
        for (int n = threadIdx.x; n < count * D * LOCAL; n += blockDim.x) {
            const int c = n % D, i = n / D % LOCAL, zone = n / (D * LOCAL);
            __stcg(own + begin * D * LOCAL + n, field[(zone * D + c) * LOCAL + i]);
        }
        __syncthreads();
    }
}

// What zones have for a component of a node, summed; shares are numbers of [zone][local][component].
__device__ __forceinline__ double gather(const double *own, const unsigned *begin, const unsigned *shares, long long n,
                                         int c) {
    double sum = 0;
    const unsigned end = begin[n + 1];
    for (unsigned s = begin[n]; s < end; s++) sum += __ldcg(own + shares[s] + c);
    return sum;
}

// The assembled matrix times all components, eight threads a row; adds p M p to `mine`.
__device__ void rows_times(long long nodes, const unsigned *row, const unsigned *columns, const double *values,
                           const double *p, double *image, double *mine) {
    const int lane = threadIdx.x % 8;
    const long long step = (long long)gridDim.x * blockDim.x / 8;
    // All threads of a warp stay together for the sums.
    const long long rounds = (nodes + step - 1) / step;
    for (long long k = 0; k < rounds; k++) {
        const long long n = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 8 + k * step;
        double sum[D] = {};
        if (n < nodes)
            for (unsigned i = row[n] + lane; i < row[n + 1]; i += 8) {
                const double v = values[i], *from = p + (long long)columns[i] * D;
#pragma unroll
                for (int c = 0; c < D; c++) sum[c] = fma(v, __ldcg(from + c), sum[c]);
            }
#pragma unroll
        for (int c = 0; c < D; c++)
            for (int by = 4; by > 0; by /= 2) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], by);
        if (n < nodes && lane == 0)
#pragma unroll
            for (int c = 0; c < D; c++) {
                image[n * D + c] = sum[c];
                mine[c] += sum[c] * __ldcg(p + n * D + c);
            }
    }
}

// Solves M x = sum of shares (+ gravity) for all components, which walls hold where `constrained` says so; over is one over the
// diagonal [node]. `row` is null for the matrix-free product. Vectors are [node][component], out is [component][node].
// The products of blocks are 2 x gridDim x D; counted holds iterations of all components, and solves.
__global__ void __launch_bounds__(SOLVE_THREADS, SOLVE_BLOCKS) solve(solve_arguments a) {
    const long long zones = a.zones, nodes = a.nodes;
    const unsigned *index = a.index, *begin = a.begin, *shares = a.shares, *row = a.row, *columns = a.columns;
    const double *mass = a.mass, *gravity = a.gravity, *over = a.over, *values = a.values;
    const unsigned char *constrained = a.constrained;
    double *own = a.own, *out = a.out, *x = a.x, *r = a.r, *p = a.p, *image = a.image, *products = a.products;
    unsigned *grid_barrier = a.grid_barrier;
    unsigned long long *counted = a.counted;
    const double tolerance = a.tolerance;
    const int max_iterations = (int)a.max_iterations;
    extern __shared__ double room[];
    __shared__ double sums[D];
    double now[D], end[D], mine[D], *first = products, *second = products + gridDim.x * D;
    // A thread keeps to one component.
    const long long step = (long long)gridDim.x * blockDim.x / D * D,
                    begin_mine = blockIdx.x * (long long)blockDim.x + threadIdx.x,
                    begin_at = begin_mine < step ? begin_mine : nodes * D;
    const int c = (int)(begin_mine % D);
    double square = 0;
    for (long long at = begin_at; at < nodes * D; at += step) {
        const long long n = at / D;
        const double right = gather(own, begin, shares, n, c) + (gravity ? gravity[c * nodes + n] : 0);
        const double d = constrained[n] >> c & 1 ? 0 : over[n];
        x[at] = 0, r[at] = right;
        __stcg(p + at, right * d);
        square += right * right * d;
    }
#pragma unroll
    for (int k = 0; k < D; k++) mine[k] = k == c ? square : 0;
    block_sum(mine, second + blockIdx.x * D);
    together(grid_barrier);
    all_sums(second, sums);
#pragma unroll
    for (int k = 0; k < D; k++) now[k] = sums[k], end[k] = tolerance * tolerance * sums[k];
    __syncthreads();
    for (int i = 0; i < max_iterations; i++) {
        bool any = false;
#pragma unroll
        for (int k = 0; k < D; k++) any |= now[k] > end[k] && now[k] > 0;
        if (!any) break;
#pragma unroll
        for (int k = 0; k < D; k++) mine[k] = 0;
        if (row) rows_times(nodes, row, columns, values, p, image, mine);
        else mass_times(room, zones, index, p, mass, own, mine);
        block_sum(mine, first + blockIdx.x * D);
        together(grid_barrier);
        all_sums(first, sums);
        double alpha = 0;
        bool active[D];
#pragma unroll
        for (int k = 0; k < D; k++) {
            active[k] = now[k] > end[k] && now[k] > 0;
            if (k == c && active[k]) alpha = now[k] / sums[k];
        }
        __syncthreads();
        square = 0;
        for (long long at = begin_at; at < nodes * D; at += step) {
            const long long n = at / D;
            const double d = constrained[n] >> c & 1 ? 0 : over[n];
            const double left = r[at] - alpha * (row ? image[at] : gather(own, begin, shares, n, c));
            r[at] = left;
            square += left * left * d;
        }
#pragma unroll
        for (int k = 0; k < D; k++) mine[k] = k == c ? square : 0;
        block_sum(mine, second + blockIdx.x * D);
        together(grid_barrier);
        all_sums(second, sums);
        double beta = 0;
#pragma unroll
        for (int k = 0; k < D; k++) {
            if (!active[k]) continue;
            if (k == c) beta = sums[k] / now[k];
            now[k] = sums[k];
            if (blockIdx.x == 0 && threadIdx.x == 0) counted[0]++;
        }
        __syncthreads();
        for (long long at = begin_at; at < nodes * D; at += step) {
            const long long n = at / D;
            const double d = constrained[n] >> c & 1 ? 0 : over[n], before = __ldcg(p + at);
            x[at] += alpha * before;
            __stcg(p + at, r[at] * d + beta * before);
        }
        together(grid_barrier);
    }
    for (long long at = begin_at; at < nodes * D; at += step) out[c * nodes + at / D] = x[at];
    if (blockIdx.x == 0 && threadIdx.x == 0) counted[1]++;
}

// out = from + dt sum of factors times rates.
struct terms {
    const double *rate[8];
    double factor[8];
    int count;
};
__global__ void combine(long long n, const double *dt, const double *from, terms t, double *out) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        double sum = from[i];
        for (int k = 0; k < t.count; k++) sum += t.factor[k] * dt[0] * t.rate[k][i];
        out[i] = sum;
    }
}

// Internal and kinetic energy of each block's zones, [block][2].
__global__ void __launch_bounds__(SOLVE_THREADS)
sums(long long zones, long long nodes, const unsigned *index, const double *u, const double *e, const double *mass,
     double *out) {
    __shared__ double warps[2][32];
    double inner = 0, outer = 0;
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < zones * POINTS;
         n += (long long)gridDim.x * blockDim.x) {
        const long long z = n / POINTS;
        const int q = (int)(n % POINTS), qx = q % Q, qy = q / Q % Q, qz = q / (Q * Q);
        double energy = 0, v[D];
        for (int c = 0; c < D; c++) v[c] = 0;
        for (int i = 0; i < ENERGIES; i++) {
            double w = energy_table[qx * E + i % E];
            if (D > 1) w *= energy_table[qy * E + i / E % E];
            if (D > 2) w *= energy_table[qz * E + i / (E * E)];
            energy = fma(w, e[z * ENERGIES + i], energy);
        }
        for (int i = 0; i < LOCAL; i++) {
            double w = value_table[qx * N + i % N];
            if (D > 1) w *= value_table[qy * N + i / N % N];
            if (D > 2) w *= value_table[qz * N + i / (N * N)];
            for (int c = 0; c < D; c++) v[c] = fma(w, u[c * nodes + index[z * LOCAL + i]], v[c]);
        }
        const double m = mass[n];
        inner += m * energy;
        for (int c = 0; c < D; c++) outer += 0.5 * m * v[c] * v[c];
    }
    for (int step = 16; step > 0; step /= 2) {
        inner += __shfl_down_sync(0xffffffffu, inner, step);
        outer += __shfl_down_sync(0xffffffffu, outer, step);
    }
    if (threadIdx.x % 32 == 0) warps[0][threadIdx.x / 32] = inner, warps[1][threadIdx.x / 32] = outer;
    __syncthreads();
    if (threadIdx.x < 2) {
        double s = 0;
        for (int w = 0; w < blockDim.x / 32; w++) s += warps[threadIdx.x][w];
        out[blockIdx.x * 2 + threadIdx.x] = s;
    }
}
}
