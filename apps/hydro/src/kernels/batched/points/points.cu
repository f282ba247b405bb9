// Kernels 1 and 2. Parameters:
// WORKSPACE 0: the small matrices are in registers; 1: they are volatile, so that each access goes to local memory
// THREADS   of a block, BLOCKS of a multiprocessor that registers are reserved for
#define ELEMENTS (dim * dim)
#define GAMMA 1.4
#define LENGTH 0.03125
#define MOST_SWEEPS 10
#define AT(i, j) ((i) * dim + (j))
#if WORKSPACE
typedef volatile double Work;
#else
typedef double Work;
#endif
#define EACH(i) _Pragma("unroll") for (int i = 0; i < dim; i++)

// The transposed adjugate's rows are those of the cofactors; returns the determinant.
static __device__ __forceinline__ double adjugate(const Work *j, Work *t) {
#if dim == 2
    t[AT(0, 0)] = j[AT(1, 1)], t[AT(0, 1)] = -j[AT(0, 1)], t[AT(1, 0)] = -j[AT(1, 0)], t[AT(1, 1)] = j[AT(0, 0)];
#else
    EACH(a) EACH(b)
        t[AT(b, a)] = j[AT((a + 1) % 3, (b + 1) % 3)] * j[AT((a + 2) % 3, (b + 2) % 3)] -
                      j[AT((a + 1) % 3, (b + 2) % 3)] * j[AT((a + 2) % 3, (b + 1) % 3)];
#endif
    double sum = 0;
    EACH(k) sum = fma(j[AT(0, k)], t[AT(k, 0)], sum);
    return sum;
}

// Jacobi's rotations make the symmetric s diagonal; the columns of v become its directions.
static __device__ __forceinline__ void diagonal(Work *s, Work *v) {
    EACH(i) EACH(j) v[AT(i, j)] = i == j;
#pragma unroll 1
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double off = 0, on = 0;
        EACH(i) {
            on = fma(s[AT(i, i)], s[AT(i, i)], on);
#pragma unroll
            for (int j = i + 1; j < dim; j++) off = fma(s[AT(i, j)], s[AT(i, j)], off);
        }
        if (off <= 1e-34 * on) break;
        EACH(p)
#pragma unroll
        for (int q = p + 1; q < dim; q++) {
            const double pq = s[AT(p, q)];
            if (pq == 0) continue;
            const double theta = (s[AT(q, q)] - s[AT(p, p)]) / (2 * pq);
            const double root = fabs(theta) + sqrt(fma(theta, theta, 1.0));
            const double t = (theta < 0 ? -1 : 1) / root, c = rsqrt(fma(t, t, 1.0)), e = t * c;
            EACH(k) {
                const double x = s[AT(k, p)], y = s[AT(k, q)];
                s[AT(k, p)] = c * x - e * y, s[AT(k, q)] = e * x + c * y;
            }
            EACH(k) {
                const double x = s[AT(p, k)], y = s[AT(q, k)];
                s[AT(p, k)] = c * x - e * y, s[AT(q, k)] = e * x + c * y;
                const double a = v[AT(k, p)], b = v[AT(k, q)];
                v[AT(k, p)] = c * a - e * b, v[AT(k, q)] = e * a + c * b;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    points_of(const double *__restrict__ jacobian, const double *__restrict__ rate,
              const double *__restrict__ energy, const double *__restrict__ mass, double *__restrict__ out) {
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (at >= total) return;
    Work j[ELEMENTS], t[ELEMENTS], s[ELEMENTS], v[ELEMENTS];
#pragma unroll
    for (int i = 0; i < ELEMENTS; i++) j[i] = jacobian[(long long)i * total + at];
    const double det = adjugate(j, t);
#if number == 1
    EACH(a) EACH(b) {
        double sum = 0;
        EACH(k) sum = fma(j[AT(k, a)], j[AT(k, b)], sum);
        s[AT(a, b)] = sum;
    }
    diagonal(s, v);
    double least = s[AT(0, 0)];
    EACH(k) least = s[AT(k, k)] < least ? s[AT(k, k)] : least;
#pragma unroll
    for (int i = 0; i < ELEMENTS; i++) out[(long long)i * total + at] = t[i];
    out[(long long)ELEMENTS * total + at] = det;
    out[(long long)(ELEMENTS + 1) * total + at] = sqrt(least > 0 ? least : 0);
#else
    Work g[ELEMENTS], l[ELEMENTS];
#pragma unroll
    for (int i = 0; i < ELEMENTS; i++) g[i] = rate[(long long)i * total + at];
    const double over = 1 / det;
    EACH(a) EACH(b) {
        double sum = 0;
        EACH(k) sum = fma(g[AT(a, k)], t[AT(k, b)], sum);
        l[AT(a, b)] = sum * over;
    }
    EACH(a) EACH(b) {
        const double mean = 0.5 * (l[AT(a, b)] + l[AT(b, a)]);
        g[AT(a, b)] = mean, s[AT(a, b)] = mean;
    }
    diagonal(s, v);
    double mu = s[AT(0, 0)];
    Work along[dim];
    EACH(k) along[k] = v[AT(k, 0)];
#pragma unroll
    for (int k = 1; k < dim; k++) {
        const double other = s[AT(k, k)];
        const bool less = other < mu;
        mu = less ? other : mu;
        EACH(i) along[i] = less ? v[AT(i, k)] : along[i];
    }
    double image = 0, length = 0;
    EACH(a) {
        double sum = 0;
        EACH(k) sum = fma(j[AT(a, k)], along[k], sum);
        image = fma(sum, sum, image), length = fma(along[a], along[a], length);
    }
    const double h = LENGTH * sqrt(image / length), density = mass[at] * over, e = energy[at] > 0 ? energy[at] : 0;
    const double pressure = (GAMMA - 1) * density * e, sound = sqrt(GAMMA * (GAMMA - 1) * e);
    const double viscosity = 2 * density * h * h * fabs(mu) + (mu < 0 ? 0.5 * density * h * sound : 0);
    EACH(a) EACH(b)
        out[(long long)(a * dim + b) * total + at] = viscosity * g[AT(a, b)] - (a == b ? pressure : 0);
    out[(long long)ELEMENTS * total + at] = viscosity;
#endif
}
