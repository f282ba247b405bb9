// Conjugate gradients in one kernel whose blocks all run at once and wait for each other; and sums of states. Products
// are summed in the same order every time.
#define ZONE_ROOM (LOCAL + FIRST + SECOND)
extern "C" {

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
__device__ __forceinline__ double gather(const solve_arguments &a, long long n, int c) {
    double sum = 0;
    unsigned s = a.begin[n], end = a.begin[n + 1];
#if RANKS
    if (s & SHARED_NODE) return shared_sum(a.team.by_zone, a.shares[s & ~SHARED_NODE], c);
    end &= ~SHARED_NODE;
#endif
    for (; s < end; s++) sum += __ldcg(a.own + a.shares[s] + c);
    return sum;
}

// The product of the matrix for a component of a node.
__device__ __forceinline__ double image_at(const solve_arguments &a, long long n, int c) {
    if (!a.row) return gather(a, n, c);
#if RANKS
    const unsigned s = a.begin[n];
    if (s & SHARED_NODE) return shared_sum(a.team.by_rank, a.shares[s & ~SHARED_NODE], c);
#endif
    return a.image[n * D + c];
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

// A thread of a solve keeps to one component; it takes the numbers from `at` on, `step` apart.
struct stride {
    long long at, step;
    int c;
};
__device__ __forceinline__ stride own_stride(long long nodes) {
    const long long step = (long long)gridDim.x * blockDim.x / D * D,
                    at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    return {at < step ? at : nodes * D, step, (int)(at % D)};
}

// The inverse diagonal where no wall holds, else 0.
__device__ __forceinline__ double over_at(const solve_arguments &a, long long n, int c) {
    return a.constrained[n] >> c & 1 ? 0 : a.over[n];
}

// Whether products of vectors count a node here: of GPUs that share it, one does.
__device__ __forceinline__ bool counts(const solve_arguments &a, long long n) {
#if RANKS
    return !(a.constrained[n] & NOT_COUNTED);
#else
    return true;
#endif
}

// Vectors at the start; returns this thread's part of (r, r / diagonal).
__device__ __forceinline__ double begin_vectors(const solve_arguments &a, const stride &s) {
    double square = 0;
    for (long long at = s.at; at < a.nodes * D; at += s.step) {
        const long long n = at / D;
        const double right = gather(a, n, s.c) + (a.gravity ? a.gravity[s.c * a.nodes + n] : 0);
        const double d = over_at(a, n, s.c);
        a.x[at] = 0, a.r[at] = right;
        __stcg(a.p + at, right * d);
        if (counts(a, n)) square += right * right * d;
    }
    return square;
}

// r -= alpha times the product; returns this thread's part of (r, r / diagonal).
__device__ __forceinline__ double update_residual(const solve_arguments &a, const stride &s, double alpha) {
    double square = 0;
    for (long long at = s.at; at < a.nodes * D; at += s.step) {
        const long long n = at / D;
        const double d = over_at(a, n, s.c);
        const double left = a.r[at] - alpha * image_at(a, n, s.c);
        a.r[at] = left;
        if (counts(a, n)) square += left * left * d;
    }
    return square;
}

// x += alpha p, then the next direction.
__device__ __forceinline__ void update_direction(const solve_arguments &a, const stride &s, double alpha, double beta) {
    for (long long at = s.at; at < a.nodes * D; at += s.step) {
        const long long n = at / D;
        const double d = over_at(a, n, s.c), before = __ldcg(a.p + at);
        a.x[at] += alpha * before;
        __stcg(a.p + at, a.r[at] * d + beta * before);
    }
}

// The matrix times p; adds p M p to `mine`.
__device__ __forceinline__ void matrix_times(const solve_arguments &a, double *room, double *mine) {
    if (a.row) rows_times(a.nodes, a.row, a.columns, a.values, a.p, a.image, mine);
    else mass_times(room, a.zones, a.index, a.p, a.mass, a.own, mine);
}

// Waits for all blocks, of all GPUs, and sums what they have; false if the run ends.
__device__ __forceinline__ bool sum_all(const solve_arguments &a, const double *of_blocks, double *sums) {
#if RANKS
    return together_ranks(a.team, a.grid_barrier, of_blocks, sums);
#else
    together(a.grid_barrier);
    all_sums(of_blocks, sums);
    return true;
#endif
}

// Solves M x = sum of shares (+ gravity) for all components, which walls hold where `constrained` says so; over is one over the
// diagonal [node]. `row` is null for the matrix-free product. Vectors are [node][component], out is [component][node].
// The products of blocks are 2 x gridDim x D; counted holds iterations of all components, and solves.
__global__ void __launch_bounds__(SOLVE_THREADS, SOLVE_BLOCKS) solve(solve_arguments a) {
    const double tolerance = a.tolerance;
    const int max_iterations = (int)a.max_iterations;
    extern __shared__ double room[];
    __shared__ double sums[D];
    double now[D], end[D], mine[D], *first = a.products, *second = a.products + gridDim.x * D;
    const stride s = own_stride(a.nodes);
    const int c = s.c;
#if RANKS
    // Forces of all zones are there.
    if (stopped(a.grid_barrier) || !together_ranks(a.team, a.grid_barrier, nullptr, sums)) return;
#endif
    double square = begin_vectors(a, s);
#pragma unroll
    for (int k = 0; k < D; k++) mine[k] = k == c ? square : 0;
    block_sum(mine, second + blockIdx.x * D);
    if (!sum_all(a, second, sums)) return;
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
        matrix_times(a, room, mine);
        block_sum(mine, first + blockIdx.x * D);
        if (!sum_all(a, first, sums)) return;
        double alpha = 0;
        bool active[D];
#pragma unroll
        for (int k = 0; k < D; k++) {
            active[k] = now[k] > end[k] && now[k] > 0;
            if (k == c && active[k]) alpha = now[k] / sums[k];
        }
        __syncthreads();
        square = update_residual(a, s, alpha);
#pragma unroll
        for (int k = 0; k < D; k++) mine[k] = k == c ? square : 0;
        block_sum(mine, second + blockIdx.x * D);
        if (!sum_all(a, second, sums)) return;
        double beta = 0;
#pragma unroll
        for (int k = 0; k < D; k++) {
            if (!active[k]) continue;
            if (k == c) beta = sums[k] / now[k];
            now[k] = sums[k];
            if (blockIdx.x == 0 && threadIdx.x == 0) a.counted[0]++;
        }
        __syncthreads();
        update_direction(a, s, alpha, beta);
        together(a.grid_barrier);
    }
    for (long long at = s.at; at < a.nodes * D; at += s.step) a.out[c * a.nodes + at / D] = a.x[at];
    if (blockIdx.x == 0 && threadIdx.x == 0) a.counted[1]++;
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
