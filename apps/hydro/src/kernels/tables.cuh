// One-dimensional tables in constant memory, and what is made of them. Before this text come D, N = k + 1, E = t + 1, Q,
// and the tables VALUE [Q][N], SLOPE [Q][N] and ENERGY [Q][E] as lists of numbers.
#define CUBE(x) (D == 1 ? (x) : D == 2 ? (x) * (x) : (x) * (x) * (x))
#define LOCAL CUBE(N)
#define ENERGIES CUBE(E)
#define POINTS CUBE(Q)

__constant__ double value_table[Q * N] = {VALUE};
__constant__ double slope_table[Q * N] = {SLOPE};
__constant__ double energy_table[Q * E] = {ENERGY};
__constant__ double weight_table[Q] = {WEIGHTS};

enum table { V, G, VT, GT, ET };

// Row r, column i of a table or its transpose.
template <table M> __device__ __forceinline__ double entry(int r, int i) {
    return M == V    ? value_table[r * N + i]
           : M == G  ? slope_table[r * N + i]
           : M == VT ? value_table[i * N + r]
           : M == GT ? slope_table[i * N + r]
                     : energy_table[i * E + r];
}

// A line of FROM numbers, `step` apart, becomes TO numbers by a table: out (+)= M in.
template <table M, int FROM, int TO, bool ADD = false>
__device__ __forceinline__ void line(const double *in, int in_step, double *out, int out_step) {
    double own[FROM];
#pragma unroll
    for (int i = 0; i < FROM; i++) own[i] = in[i * in_step];
#pragma unroll
    for (int r = 0; r < TO; r++) {
        double sum = ADD ? out[r * out_step] : 0;
#pragma unroll
        for (int i = 0; i < FROM; i++) sum = fma(entry<M>(r, i), own[i], sum);
        out[r * out_step] = sum;
    }
}

// All lines of `count` boxes of outer x FROM x inner numbers, boxes in_size and out_size apart.
template <table M, int FROM, int TO, bool ADD = false>
__device__ __forceinline__ void lines(const double *in, int in_size, double *out, int out_size, int count, int outer,
                                      int inner) {
    for (int n = threadIdx.x; n < count * outer * inner; n += blockDim.x) {
        const int box = n / (outer * inner), a = n / inner % outer, b = n % inner;
        line<M, FROM, TO, ADD>(in + box * in_size + a * FROM * inner + b, inner,
                               out + box * out_size + a * TO * inner + b, inner);
    }
}

// The weight of a point.
__device__ __forceinline__ double weight_of(int q) {
    return D == 1   ? weight_table[q]
           : D == 2 ? weight_table[q % Q] * weight_table[q / Q]
                    : weight_table[q % Q] * weight_table[q / Q % Q] * weight_table[q / (Q * Q)];
}

// Numbers of a field of one zone between its nodes and its points: lines along x by values and gradients, then along y.
#define FIRST (D == 1 ? 0 : D == 2 ? N * Q : N * N * Q)
#define SECOND (D == 3 ? N * Q * Q : 0)

// Slopes of `count` fields up to their last direction, which `slope_at` takes. The boxes of `first` hold two of FIRST
// numbers, those of `second` three of SECOND.
__device__ __forceinline__ void begin_gradients(const double *nodes, double *first, double *second, int count) {
#if D > 1
    lines<V, N, Q>(nodes, LOCAL, first, 2 * FIRST, count, LOCAL / N, 1);
    lines<G, N, Q>(nodes, LOCAL, first + FIRST, 2 * FIRST, count, LOCAL / N, 1);
    __syncthreads();
#endif
#if D == 3
    lines<V, N, Q>(first + FIRST, 2 * FIRST, second, 3 * SECOND, count, N, Q);
    lines<G, N, Q>(first, 2 * FIRST, second + SECOND, 3 * SECOND, count, N, Q);
    lines<V, N, Q>(first, 2 * FIRST, second + 2 * SECOND, 3 * SECOND, count, N, Q);
    __syncthreads();
#endif
}

// The gradients of a field at a point.
__device__ __forceinline__ void slope_at(const double *nodes, const double *first, const double *second, int q,
                                         double *out) {
#if D == 1
    double sum = 0;
    for (int i = 0; i < N; i++) sum = fma(slope_table[q * N + i], nodes[i], sum);
    out[0] = sum;
#elif D == 2
    const int x = q % Q, y = q / Q;
    double a = 0, b = 0;
    for (int i = 0; i < N; i++) {
        a = fma(value_table[y * N + i], first[FIRST + i * Q + x], a);
        b = fma(slope_table[y * N + i], first[i * Q + x], b);
    }
    out[0] = a, out[1] = b;
#else
    const int plane = q % (Q * Q), z = q / (Q * Q);
    double a = 0, b = 0, c = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const double v = value_table[z * N + i], *at = second + i * Q * Q + plane;
        a = fma(v, at[0], a);
        b = fma(v, at[SECOND], b);
        c = fma(slope_table[z * N + i], at[2 * SECOND], c);
    }
    out[0] = a, out[1] = b, out[2] = c;
#endif
}

// Forces on the nodes of `count` fields from D planes of points each, and minus them: the transpose of gradients.
__device__ __forceinline__ void divergence(const double *points, double *second, double *first, double *nodes,
                                           int count) {
#if D == 3
    lines<VT, Q, N>(points, 3 * POINTS, second, 3 * SECOND, count, 1, Q * Q);
    lines<VT, Q, N>(points + POINTS, 3 * POINTS, second + SECOND, 3 * SECOND, count, 1, Q * Q);
    lines<GT, Q, N>(points + 2 * POINTS, 3 * POINTS, second + 2 * SECOND, 3 * SECOND, count, 1, Q * Q);
    __syncthreads();
    lines<VT, Q, N>(second, 3 * SECOND, first + FIRST, 2 * FIRST, count, N, Q);
    lines<GT, Q, N>(second + SECOND, 3 * SECOND, first, 2 * FIRST, count, N, Q);
    __syncthreads();
    lines<VT, Q, N, true>(second + 2 * SECOND, 3 * SECOND, first, 2 * FIRST, count, N, Q);
    __syncthreads();
#elif D == 2
    lines<VT, Q, N>(points, 2 * POINTS, first + FIRST, 2 * FIRST, count, 1, Q);
    lines<GT, Q, N>(points + POINTS, 2 * POINTS, first, 2 * FIRST, count, 1, Q);
    __syncthreads();
#endif
#if D > 1
    lines<GT, Q, N>(first + FIRST, 2 * FIRST, nodes, LOCAL, count, LOCAL / N, 1);
    __syncthreads();
    lines<VT, Q, N, true>(first, 2 * FIRST, nodes, LOCAL, count, LOCAL / N, 1);
#else
    lines<GT, Q, N>(points, POINTS, nodes, LOCAL, count, 1, 1);
#endif
    __syncthreads();
}
