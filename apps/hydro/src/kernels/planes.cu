// The kernels of corner.cu for hexahedra of high order, whose fields at all points of a zone do not fit shared memory. A
// block takes one zone and goes through its points plane by plane along z: fields are contracted along z, y and x to the
// plane's points, and its stresses back along x, y and z, where forces and energies of all planes are summed.
#if PLANES

// Lines of this many doubles lie in different banks.
#define PITCH(x) ((x) | 1)
#define PLANE (Q * PITCH(Q))
#define ALONG_Y (Q * PITCH(N))
#define SQUARE (N * N)

// Shared memory of a block; the host counts it too.
struct plane_room {
    double value[N * Q], gradient[N * Q], energy_value[E * Q]; // tables with the points fastest
    double field[6 * LOCAL], forces[3 * LOCAL];
    double energy[ENERGIES], work[ENERGIES];
    union {
        struct {
            double fields[12 * SQUARE], energy[E * E];
        } along_z;
        struct {
            double stress[9 * PLANE], work[PLANE];
        } at; // the points
    };
    double along_y[18 * ALONG_Y], energy_y[Q * PITCH(E)];
    double back[6 * SQUARE], energy_back[E * E];
};
static_assert(sizeof(plane_room) == CORNER_BYTES, "the host counts other bytes");

extern "C" __device__ __forceinline__ plane_room *begin_planes() {
    extern __shared__ double room[];
    plane_room *s = (plane_room *)room;
    for (int n = threadIdx.x; n < N * Q; n += blockDim.x) {
        s->value[n] = value_table[n % Q * N + n / Q];
        s->gradient[n] = slope_table[n % Q * N + n / Q];
    }
    for (int n = threadIdx.x; n < E * Q; n += blockDim.x) s->energy_value[n] = energy_table[n % Q * E + n / Q];
    for (int n = threadIdx.x; n < 3 * LOCAL; n += blockDim.x) s->forces[n] = 0;
    for (int n = threadIdx.x; n < ENERGIES; n += blockDim.x) s->work[n] = 0;
    return s;
}

// Fields FIRST_FIELD on of a zone's nodes.
template <int FIRST_FIELD> __device__ __forceinline__ void take_field(plane_room *s, const unsigned *index, long long nodes,
                                                                      const double *x) {
    for (int i = threadIdx.x; i < LOCAL; i += blockDim.x) {
        const unsigned node = index[(long long)blockIdx.x * LOCAL + i];
#pragma unroll
        for (int c = 0; c < 3; c++) s->field[(FIRST_FIELD + c) * LOCAL + i] = x[c * nodes + node];
    }
}

// What gradients of FIELDS fields in plane z are made of: [kind][field][y][x], the kinds for gradients along x, y and z.
template <int FIELDS, bool ENERGIES_TOO> __device__ __forceinline__ void gradients_along(plane_room *s, int z) {
    for (int n = threadIdx.x; n < FIELDS * SQUARE; n += blockDim.x) {
        const int f = n / SQUARE, i = n % SQUARE;
        double value = 0, gradient = 0;
#pragma unroll
        for (int k = 0; k < N; k++) {
            const double in = s->field[f * LOCAL + k * SQUARE + i];
            value = fma(value_table[z * N + k], in, value);
            gradient = fma(slope_table[z * N + k], in, gradient);
        }
        s->along_z.fields[2 * f * SQUARE + i] = value;
        s->along_z.fields[(2 * f + 1) * SQUARE + i] = gradient;
    }
    if (ENERGIES_TOO)
        for (int n = threadIdx.x; n < E * E; n += blockDim.x) {
            double sum = 0;
            for (int k = 0; k < E; k++) sum = fma(energy_table[z * E + k], s->energy[k * E * E + n], sum);
            s->along_z.energy[n] = sum;
        }
    __syncthreads();
    for (int n = threadIdx.x; n < 3 * FIELDS * N; n += blockDim.x) {
        const int kind = n / (FIELDS * N), f = n / N % FIELDS, i = n % N;
        const double *in = s->along_z.fields + (2 * f + (kind == 2)) * SQUARE + i;
        double *out = s->along_y + (kind * FIELDS + f) * ALONG_Y + i;
        if (kind == 1) line<G, N, Q>(in, N, out, PITCH(N));
        else line<V, N, Q>(in, N, out, PITCH(N));
    }
    if (ENERGIES_TOO)
        for (int n = threadIdx.x; n < Q * E; n += blockDim.x) {
            const int y = n / E, i = n % E;
            double sum = 0;
            for (int j = 0; j < E; j++) sum = fma(s->energy_value[j * Q + y], s->along_z.energy[j * E + i], sum);
            s->energy_y[y * PITCH(E) + i] = sum;
        }
    __syncthreads();
}

// Slopes of FIELDS fields at a point of the plane, [field][direction].
template <int FIELDS> __device__ __forceinline__ void gradients_in(const plane_room *s, int x, int y, double *out) {
#pragma unroll
    for (int i = 0; i < 3 * FIELDS; i++) out[i] = 0;
#pragma unroll 1
    for (int i = 0; i < N; i++) {
        const double v = s->value[i * Q + x], g = s->gradient[i * Q + x], *at = s->along_y + y * PITCH(N) + i;
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            out[3 * f] = fma(g, at[f * ALONG_Y], out[3 * f]);
            out[3 * f + 1] = fma(v, at[(FIELDS + f) * ALONG_Y], out[3 * f + 1]);
            out[3 * f + 2] = fma(v, at[(2 * FIELDS + f) * ALONG_Y], out[3 * f + 2]);
        }
    }
}

// Adds the forces of the stresses in plane z, or the energies' right sides of the work there.
template <bool FORCES, bool WORK> __device__ __forceinline__ void sum_plane(plane_room *s, int z) {
    __syncthreads();
    if (FORCES)
        for (int n = threadIdx.x; n < 9 * Q; n += blockDim.x) {
            const int kind = n / (3 * Q), c = n / Q % 3, y = n % Q;
            const double *in = s->at.stress + (3 * c + kind) * PLANE + y * PITCH(Q);
            double *out = s->along_y + (3 * kind + c) * ALONG_Y + y * PITCH(N);
            if (kind == 0) line<GT, Q, N>(in, 1, out, 1);
            else line<VT, Q, N>(in, 1, out, 1);
        }
    if (WORK)
        for (int n = threadIdx.x; n < Q * E; n += blockDim.x) {
            const int i = n / Q, y = n % Q;
            double sum = 0;
            for (int x = 0; x < Q; x++) sum = fma(s->energy_value[i * Q + x], s->at.work[y * PITCH(Q) + x], sum);
            s->energy_y[y * PITCH(E) + i] = sum;
        }
    __syncthreads();
    if (FORCES)
        for (int n = threadIdx.x; n < 6 * N; n += blockDim.x) {
            const int kind = n / (3 * N), c = n / N % 3, i = n % N;
            const double *in = s->along_y + c * ALONG_Y + i;
            double *out = s->back + (2 * c + kind) * SQUARE + i;
            if (kind == 0) {
                line<VT, Q, N>(in, PITCH(N), out, N);
                line<GT, Q, N, true>(in + 3 * ALONG_Y, PITCH(N), out, N);
            } else {
                line<VT, Q, N>(in + 6 * ALONG_Y, PITCH(N), out, N);
            }
        }
    if (WORK)
        for (int n = threadIdx.x; n < E * E; n += blockDim.x) {
            const int j = n / E, i = n % E;
            double sum = 0;
            for (int y = 0; y < Q; y++) sum = fma(s->energy_value[j * Q + y], s->energy_y[y * PITCH(E) + i], sum);
            s->energy_back[n] = sum;
        }
    __syncthreads();
    // Each thread adds to numbers of its own.
    if (FORCES)
        for (int n = threadIdx.x; n < 3 * LOCAL; n += blockDim.x) {
            const int c = n / LOCAL, k = n / SQUARE % N, i = n % SQUARE;
            double sum = fma(s->value[k * Q + z], s->back[2 * c * SQUARE + i], s->forces[n]);
            s->forces[n] = fma(s->gradient[k * Q + z], s->back[(2 * c + 1) * SQUARE + i], sum);
        }
    if (WORK)
        for (int n = threadIdx.x; n < ENERGIES; n += blockDim.x)
            s->work[n] = fma(s->energy_value[n / (E * E) * Q + z], s->energy_back[n % (E * E)], s->work[n]);
}

__device__ __forceinline__ void put_work(const plane_room *s, double *right) {
    for (int n = threadIdx.x; n < ENERGIES; n += blockDim.x) right[(long long)blockIdx.x * ENERGIES + n] = s->work[n];
}

extern "C" {
__global__ void __launch_bounds__(THREADS, BLOCKS) corner(corner_arguments a) {
    const rules r = a.r;
    const long long nodes = a.nodes;
    const unsigned *index = a.index;
    const double *x = a.x, *u = a.u, *e = a.e, *gamma = a.gamma, *p_inf = a.p_inf, *mass = a.mass, *start = a.start;
    double *stress_out = a.stress_out, *own = a.own, *right = a.right;
    unsigned long long *rate = a.rate;
    plane_room *s = begin_planes();
    const long long zone = blockIdx.x;
    take_field<0>(s, index, nodes, x);
    take_field<3>(s, index, nodes, u);
    for (int n = threadIdx.x; n < ENERGIES; n += blockDim.x) s->energy[n] = e[zone * ENERGIES + n];
    __syncthreads();
    double most = 0;
#pragma unroll 1
    for (int z = 0; z < Q; z++) {
        gradients_along<6, true>(s, z);
        for (int n = threadIdx.x; n < Q * Q; n += blockDim.x) {
            const int px = n % Q, py = n / Q, q = z * Q * Q + n;
            point_data at;
            double gradients[18];
            gradients_in<6>(s, px, py, gradients);
#pragma unroll
            for (int i = 0; i < 9; i++) at.j[i] = gradients[i], at.gradient[i] = gradients[9 + i];
            double sum = 0;
            for (int i = 0; i < E; i++) sum = fma(s->energy_value[i * Q + px], s->energy_y[py * PITCH(E) + i], sum);
            at.e = sum, at.gamma = gamma[zone], at.p_inf = p_inf[zone];
            at.mass = mass[zone * POINTS + q], at.weight = weight_of(q);
#pragma unroll
            for (int i = 0; i < 9; i++) at.start[i] = AFFINE ? start[zone * 9 + i] : start[(zone * 9 + i) * POINTS + q];
            double out[9], given = 0;
            const double own_rate = stress_at(&r, &at, out);
            most = own_rate > most ? own_rate : most;
#pragma unroll
            for (int i = 0; i < 9; i++) {
                if (STORED) stress_out[(zone * 9 + i) * POINTS + q] = out[i];
                if (FUSED) {
                    s->at.stress[i * PLANE + py * PITCH(Q) + px] = out[i];
                    given = fma(out[i], at.gradient[i], given);
                }
            }
            if (FUSED) s->at.work[py * PITCH(Q) + px] = given;
        }
        if (FUSED) sum_plane<true, true>(s, z);
    }
    raise(rate, most);
    if (!FUSED) return;
    __syncthreads();
    put_forces(s->forces, own + zone * 3 * LOCAL, 1);
    put_work(s, right);
}

// Forces of stored stresses, [zone][local][component].
__global__ void __launch_bounds__(THREADS, BLOCKS) force(long long zones, const double *stress_in, double *own) {
    plane_room *s = begin_planes();
    const long long zone = blockIdx.x;
#pragma unroll 1
    for (int z = 0; z < Q; z++) {
        for (int n = threadIdx.x; n < 9 * Q * Q; n += blockDim.x) {
            const int i = n / (Q * Q), p = n % (Q * Q);
            s->at.stress[i * PLANE + p / Q * PITCH(Q) + p % Q] = stress_in[(zone * 9 + i) * POINTS + z * Q * Q + p];
        }
        sum_plane<true, false>(s, z);
    }
    __syncthreads();
    put_forces(s->forces, own + zone * 3 * LOCAL, 1);
}

// Energies' right sides by stored stresses and any velocities.
__global__ void __launch_bounds__(THREADS, BLOCKS)
work(rules r, long long zones, long long nodes, const unsigned *index, const double *u, const double *stress_in,
     const double *source, double *right) {
    plane_room *s = begin_planes();
    const long long zone = blockIdx.x;
    take_field<0>(s, index, nodes, u);
    __syncthreads();
#pragma unroll 1
    for (int z = 0; z < Q; z++) {
        gradients_along<3, false>(s, z);
        for (int n = threadIdx.x; n < Q * Q; n += blockDim.x) {
            double gradients[9], sum = 0;
            gradients_in<3>(s, n % Q, n / Q, gradients);
#pragma unroll
            for (int i = 0; i < 9; i++)
                sum = fma(stress_in[(zone * 9 + i) * POINTS + z * Q * Q + n], gradients[i], sum);
            s->at.work[n / Q * PITCH(Q) + n % Q] = sum;
        }
        sum_plane<false, true>(s, z);
    }
    __syncthreads();
    put_work(s, right);
}
}
#endif
