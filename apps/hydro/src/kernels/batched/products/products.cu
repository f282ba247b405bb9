// C = A B of many small matrices. Parameters:
// METHOD   0 a thread computes an element, and 1 a matrix, of matrices that the block brings to shared memory; 2 a thread
//          computes a matrix that it reads itself
// MATRICES of a block at once (N of figure 4)
// VEC      numbers that a thread reads at once; as a structure of arrays, matrices of a thread
// GROUPS   of MATRICES that a block computes one after the other
#define ELEMENTS (dim * dim)
// An odd step, so that threads with a matrix each use different banks.
#define STEP (ELEMENTS | 1)

// Element (i, j) of A B.
static __device__ __forceinline__ double element(const double *a, const double *b, int i, int j) {
    double sum = 0;
#pragma unroll
    for (int k = 0; k < dim; k++) sum = fma(a[i + k * dim], trans_b ? b[j + k * dim] : b[k + j * dim], sum);
    return sum;
}

#if layout == 0 && METHOD < 2
#define PARTS ((MATRICES * ELEMENTS + VEC * THREADS - 1) / (VEC * THREADS))

// Where element e of a group lies in shared memory.
static __device__ __forceinline__ int place(int e) { return e / ELEMENTS * STEP + e % ELEMENTS; }

// Reads what this thread brings of a group with n elements.
static __device__ __forceinline__ void read(double (&v)[PARTS][VEC], const double *from, int n) {
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        const int e = VEC * (p * THREADS + (int)threadIdx.x);
#if VEC == 2
        if (e + 1 < n) {
            const double2 pair = *(const double2 *)(from + e);
            v[p][0] = pair.x, v[p][1] = pair.y;
            continue;
        }
#endif
        v[p][0] = e < n ? from[e] : 0;
    }
}

static __device__ __forceinline__ void store(double *to, const double (&v)[PARTS][VEC], int n) {
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int u = 0; u < VEC; u++) {
            const int e = VEC * (p * THREADS + (int)threadIdx.x) + u;
            if (e < n) to[place(e)] = v[p][u];
        }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
    products(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c) {
#if layout == 0 && METHOD < 2
    __shared__ double left[MATRICES * STEP], right[MATRICES * STEP];
    const int t = threadIdx.x;
    for (int g = 0; g < GROUPS; g++) {
        const long long first = ((long long)blockIdx.x * GROUPS + g) * MATRICES;
        if (first >= total) break;
        const long long rest = (total - first) * ELEMENTS;
        const int n = rest < MATRICES * ELEMENTS ? (int)rest : MATRICES * ELEMENTS;
        double v[PARTS][VEC], w[PARTS][VEC];
        read(v, a + first * ELEMENTS, n);
        read(w, b + first * ELEMENTS, n);
        if (g) __syncthreads();
        store(left, v, n);
        store(right, w, n);
        __syncthreads();
        double *to = c + first * ELEMENTS;
#if METHOD == 0
        const int m = t / ELEMENTS * STEP, e = t % ELEMENTS;
        if (t < n) to[t] = element(left + m, right + m, e % dim, e / dim);
#else
        double result[ELEMENTS];
        if (t * ELEMENTS < n) {
#pragma unroll
            for (int e = 0; e < ELEMENTS; e++)
                result[e] = element(left + t * STEP, right + t * STEP, e % dim, e / dim);
#pragma unroll
            for (int e = 0; e < ELEMENTS; e++) left[t * STEP + e] = result[e];
        }
        __syncthreads();
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            const int e = VEC * (p * THREADS + t);
#if VEC == 2
            if (e + 1 < n) {
                double2 pair;
                pair.x = left[place(e)], pair.y = left[place(e + 1)];
                *(double2 *)(to + e) = pair;
                continue;
            }
#endif
            if (e < n) to[e] = left[place(e)];
        }
#endif
    }
#elif layout == 0
    for (int g = 0; g < GROUPS; g++) {
        const long long m = ((long long)blockIdx.x * GROUPS + g) * MATRICES + threadIdx.x;
        if (m >= total) return;
        double v[ELEMENTS], w[ELEMENTS];
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++) v[e] = a[m * ELEMENTS + e], w[e] = b[m * ELEMENTS + e];
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++) c[m * ELEMENTS + e] = element(v, w, e % dim, e / dim);
    }
#else
    for (int g = 0; g < GROUPS; g++) {
        const long long m = ((long long)blockIdx.x * GROUPS + g) * MATRICES + VEC * threadIdx.x;
        if (m >= total) return;
        double v[VEC][ELEMENTS], w[VEC][ELEMENTS];
#pragma unroll
        for (long long e = 0; e < ELEMENTS; e++) {
#if VEC == 2
            const double2 x = *(const double2 *)(a + e * total + m), y = *(const double2 *)(b + e * total + m);
            v[0][e] = x.x, v[1][e] = x.y, w[0][e] = y.x, w[1][e] = y.y;
#else
            v[0][e] = a[e * total + m], w[0][e] = b[e * total + m];
#endif
        }
#pragma unroll
        for (long long e = 0; e < ELEMENTS; e++) {
#if VEC == 2
            double2 z;
            z.x = element(v[0], w[0], e % dim, e / dim), z.y = element(v[1], w[1], e % dim, e / dim);
            *(double2 *)(c + e * total + m) = z;
#else
            c[e * total + m] = element(v[0], w[0], e % dim, e / dim);
#endif
        }
    }
#endif
}
