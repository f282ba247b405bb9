// Stresses at the points and what follows from them: forces on the nodes and work on the energies. A block takes ZONES
// zones with THREADS threads. STORED says that stresses are written for later kernels; FUSED that forces and work with
// the same velocities follow at once.
extern "C" {

// Doubles of shared memory of a block; the host counts them too.
#define CORNER_NODES (2 * D * LOCAL)
#define CORNER_SECOND (2 * D * (D == 3 ? 3 * SECOND : 0))
#define CORNER_FIRST (2 * D * 2 * FIRST)
#define LATER (D * D * POINTS + POINTS)

__device__ void raise(unsigned long long *rate, double own) {
    for (int step = 16; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, own, step);
        own = own > other ? own : other;
    }
    // Of numbers that are not negative, the larger has the larger bits.
    if (threadIdx.x % 32 == 0) atomicMax(rate, (unsigned long long)__double_as_longlong(own));
}

// Minus the forces, [zone][local][component].
__device__ void put_forces(const double *field, double *own, int count) {
    for (int n = threadIdx.x; n < count * D * LOCAL; n += blockDim.x) {
        const int c = n % D, i = n / D % LOCAL, zone = n / (D * LOCAL);
        own[n] = -field[(zone * D + c) * LOCAL + i];
    }
}

// Energies' right sides [zone][energy] from work at the points of a block's zones.
__device__ void gather_energy(const double *work, double *room, double *right, long long begin, int count) {
    // Lines along z, y, x; room holds both halves.
    double *a = room;
#if D > 1
    double *b = room + ZONES * POINTS;
#endif
#if D == 3
    lines<ET, Q, E>(work, POINTS, a, POINTS, count, 1, Q * Q);
    __syncthreads();
    lines<ET, Q, E>(a, POINTS, b, POINTS, count, E, Q);
    __syncthreads();
    lines<ET, Q, E>(b, POINTS, a, POINTS, count, E * E, 1);
#elif D == 2
    lines<ET, Q, E>(work, POINTS, b, POINTS, count, 1, Q);
    __syncthreads();
    lines<ET, Q, E>(b, POINTS, a, POINTS, count, E, 1);
#else
    lines<ET, Q, E>(work, POINTS, a, POINTS, count, 1, 1);
#endif
    __syncthreads();
    for (int n = threadIdx.x; n < count * ENERGIES; n += blockDim.x)
        right[begin * ENERGIES + n] = a[n / ENERGIES * POINTS + n % ENERGIES];
    __syncthreads();
}

// Stress and rate of a point.
__device__ __forceinline__ double stress_at(const rules *r, const point_data *at, double *out) {
    turn m;
    double squares[D * (D + 1) / 2];
    const double large = strain(at, &m, squares);
#if D == 3
    if (r->viscous)
        for (int s = 0; s < MOST_SWEEPS && sweep(&m) >= TURNED; s++) {}
    for (int s = 0; s < MOST_SWEEPS && sweep_values(squares) >= TURNED; s++) {}
#endif
    return stress(r, at, &m, large, squares, out);
}

// x and u are [component][node], e [zone][energy], mass [zone][point], start [zone][D D] or [zone][D D][point].
__device__ __forceinline__ void corner_of(rules r, long long zones, long long nodes, const unsigned *index, const double *x,
                                          const double *u, const double *e, const double *gamma, const double *p_inf,
                                          const double *mass, const double *start, double *stress_out, double *source,
                                          double *own, double *right, unsigned long long *rate) {
    extern __shared__ double room[];
    const long long begin = (long long)blockIdx.x * ZONES;
    const int count = (int)(zones - begin < ZONES ? zones - begin : ZONES);
    double *field = room, *first = field + ZONES * CORNER_NODES, *second = first + ZONES * CORNER_FIRST;
    double *energy = second + ZONES * CORNER_SECOND, *later = energy + ZONES * ENERGIES;
    for (int n = threadIdx.x; n < count * LOCAL; n += blockDim.x) {
        const int zone = n / LOCAL, i = n % LOCAL;
        const unsigned node = index[begin * LOCAL + n];
#pragma unroll
        for (int c = 0; c < D; c++) {
            field[(zone * 2 * D + c) * LOCAL + i] = x[c * nodes + node];
            field[(zone * 2 * D + D + c) * LOCAL + i] = u[c * nodes + node];
        }
    }
    for (int n = threadIdx.x; n < count * ENERGIES; n += blockDim.x) energy[n] = e[begin * ENERGIES + n];
    __syncthreads();
    begin_gradients(field, first, second, count * 2 * D);
    double most = 0;
    for (int n = threadIdx.x; n < count * POINTS; n += blockDim.x) {
        const int zone = n / POINTS, q = n % POINTS;
        const long long z = begin + zone;
        point_data at;
        const int box = zone * 2 * D;
#pragma unroll
        for (int c = 0; c < D; c++) {
            slope_at(field + (box + c) * LOCAL, first + (box + c) * 2 * FIRST, second + (box + c) * 3 * SECOND, q,
                     at.j + c * D);
            slope_at(field + (box + D + c) * LOCAL, first + (box + D + c) * 2 * FIRST,
                     second + (box + D + c) * 3 * SECOND, q, at.gradient + c * D);
        }
        const double *own_e = energy + zone * ENERGIES;
        double sum = 0;
        for (int k = 0; k < (D == 3 ? E : 1); k++) {
            double plane = 0;
            for (int j = 0; j < (D > 1 ? E : 1); j++) {
                double row = 0;
                for (int i = 0; i < E; i++) row = fma(energy_table[q % Q * E + i], own_e[(k * E + j) * E + i], row);
                plane = fma(D > 1 ? energy_table[q / Q % Q * E + j] : 1, row, plane);
            }
            sum = fma(D == 3 ? energy_table[q / (Q * Q) * E + k] : 1, plane, sum);
        }
        at.e = sum, at.gamma = gamma[z], at.p_inf = p_inf[z];
        at.mass = mass[z * POINTS + q], at.weight = weight_of(q);
#pragma unroll
        for (int i = 0; i < D * D; i++)
            at.start[i] = AFFINE ? start[z * D * D + i] : start[(z * D * D + i) * POINTS + q];
        double out[D * D];
        const double own_rate = stress_at(&r, &at, out);
        most = own_rate > most ? own_rate : most;
        double given = 0;
#if D == 2
        if (r.source) {
            double px = 0, py = 0;
            for (int j = 0; j < N; j++)
                for (int i = 0; i < N; i++) {
                    const double w = value_table[q % Q * N + i] * value_table[q / Q * N + j];
                    px = fma(w, field[box * LOCAL + j * N + i], px);
                    py = fma(w, field[(box + 1) * LOCAL + j * N + i], py);
                }
            given = at.weight * determinant(at.j) * vortex(px, py);
            if (STORED) source[z * POINTS + q] = given;
        }
#endif
#pragma unroll
        for (int i = 0; i < D * D; i++) {
            if (STORED) stress_out[(z * D * D + i) * POINTS + q] = out[i];
            if (FUSED) {
                later[(zone * D * D + i) * POINTS + q] = out[i];
                given = fma(out[i], at.gradient[i], given);
            }
        }
        if (FUSED) later[ZONES * D * D * POINTS + n] = given;
    }
    raise(rate, most);
    if (!FUSED) return;
    __syncthreads();
    divergence(later, second, first, field, count * D);
    put_forces(field, own + begin * D * LOCAL, count);
    __syncthreads();
    gather_energy(later + ZONES * D * D * POINTS, later, right, begin, count);
}

#if !PLANES
__global__ void __launch_bounds__(THREADS, BLOCKS) corner(corner_arguments a) {
    corner_of(a.r, a.zones, a.nodes, a.index, a.x, a.u, a.e, a.gamma, a.p_inf, a.mass, a.start, a.stress_out, a.source, a.own,
              a.right, a.rate);
}
#endif

// Forces of stored stresses, [zone][local][component].
__device__ __forceinline__ void force_of(long long zones, const double *stress_in, double *own) {
    extern __shared__ double room[];
    const long long begin = (long long)blockIdx.x * ZONES;
    const int count = (int)(zones - begin < ZONES ? zones - begin : ZONES);
    double *field = room, *first = field + ZONES * CORNER_NODES, *second = first + ZONES * CORNER_FIRST;
    double *later = second + ZONES * CORNER_SECOND;
    for (int n = threadIdx.x; n < count * D * D * POINTS; n += blockDim.x)
        later[n] = stress_in[begin * D * D * POINTS + n];
    __syncthreads();
    divergence(later, second, first, field, count * D);
    put_forces(field, own + begin * D * LOCAL, count);
}

#if !PLANES
__global__ void __launch_bounds__(THREADS, BLOCKS) force(long long zones, const double *stress_in, double *own) {
    force_of(zones, stress_in, own);
}
#endif

// Energies' right sides by stored stresses and any velocities.
__device__ __forceinline__ void work_of(rules r, long long zones, long long nodes, const unsigned *index, const double *u,
                                        const double *stress_in, const double *source, double *right) {
    extern __shared__ double room[];
    const long long begin = (long long)blockIdx.x * ZONES;
    const int count = (int)(zones - begin < ZONES ? zones - begin : ZONES);
    double *field = room, *first = field + ZONES * CORNER_NODES, *second = first + ZONES * CORNER_FIRST;
    double *later = second + ZONES * CORNER_SECOND;
    for (int n = threadIdx.x; n < count * LOCAL; n += blockDim.x) {
        const int zone = n / LOCAL, i = n % LOCAL;
        const unsigned node = index[begin * LOCAL + n];
        for (int c = 0; c < D; c++) field[(zone * D + c) * LOCAL + i] = u[c * nodes + node];
    }
    __syncthreads();
    begin_gradients(field, first, second, count * D);
    double *given = later + ZONES * D * D * POINTS;
    for (int n = threadIdx.x; n < count * POINTS; n += blockDim.x) {
        const int zone = n / POINTS, q = n % POINTS;
        double sum = r.source ? source[(begin + zone) * POINTS + q] : 0;
#pragma unroll
        for (int c = 0; c < D; c++) {
            double g[D];
            const int box = zone * D + c;
            slope_at(field + box * LOCAL, first + box * 2 * FIRST, second + box * 3 * SECOND, q, g);
#pragma unroll
            for (int i = 0; i < D; i++)
                sum = fma(stress_in[((begin + zone) * D * D + c * D + i) * POINTS + q], g[i], sum);
        }
        given[n] = sum;
    }
    __syncthreads();
    gather_energy(given, later, right, begin, count);
}

#if !PLANES
__global__ void __launch_bounds__(THREADS, BLOCKS)
work(rules r, long long zones, long long nodes, const unsigned *index, const double *u, const double *stress_in,
     const double *source, double *right) {
    work_of(r, zones, nodes, index, u, stress_in, source, right);
}
#endif

// out = M_e^-1 right, zone by zone; inverse is [zone][column][row].
__global__ void energy_solve(long long zones, const double *inverse, const double *right, double *out) {
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < zones * ENERGIES;
         n += (long long)gridDim.x * blockDim.x) {
        const long long z = n / ENERGIES;
        const int i = (int)(n % ENERGIES);
        double sum = 0;
        for (int k = 0; k < ENERGIES; k++)
            sum = fma(inverse[(z * ENERGIES + k) * ENERGIES + i], right[z * ENERGIES + k], sum);
        out[n] = sum;
    }
}
}
