// V lists by transforms of length LINE = 2 P - 1, as in fourier.c. A block takes SISTERS of a parent's eight children.
// Spectra are [component][frequency][parent][16]: real parts of eight sisters, then imaginary parts.
#define LINE (2 * P - 1)
#define WAVES (LINE * LINE * P)
#define FOURIER_THREADS 256

// turns: cosine and sine of 2 pi i / LINE. children: box of each octant of a parent, or -1. places: grid places of the surface.
extern "C" __global__ void __launch_bounds__(FOURIER_THREADS)
forward(const real *turns, const int *places, const int *children, const real *up, real *spectra, long long parents) {
    extern __shared__ real room[];
    real *cs = room, *a = cs + 2 * LINE, *b = a + 2 * P * P * P * SISTERS;
    const int tid = threadIdx.x, lane = tid % SISTERS, own = blockIdx.y * SISTERS + lane;
    const long long parent = blockIdx.x;
    const int comp = blockIdx.z, box = children[parent * 8 + own];
    for (int i = tid; i < 2 * LINE; i += FOURIER_THREADS) cs[i] = turns[i];
    for (int i = tid; i < P * P * P * SISTERS; i += FOURIER_THREADS) b[i] = 0;
    __syncthreads();
    for (int i = tid / SISTERS; i < SHELL; i += FOURIER_THREADS / SISTERS)
        if (box >= 0) b[places[i] * SISTERS + lane] = up[((long long)box * SHELL + i) * IN + comp];
    __syncthreads();
    for (int i = tid / SISTERS; i < P * P * P; i += FOURIER_THREADS / SISTERS) {
        const int line = i / P, k = i % P;
        real re = 0, im = 0;
        for (int j = 0, w = 0; j < P; j++, w = w + k < LINE ? w + k : w + k - LINE) {
            const real v = b[(line * P + j) * SISTERS + lane];
            re += cs[2 * w] * v, im -= cs[2 * w + 1] * v;
        }
        a[2 * i * SISTERS + lane] = re, a[(2 * i + 1) * SISTERS + lane] = im;
    }
    __syncthreads();
    // Lines along y of each x and kz.
    for (int i = tid / SISTERS; i < P * LINE * P; i += FOURIER_THREADS / SISTERS) {
        const int x = i / (LINE * P), k = i / P % LINE, z = i % P;
        real re = 0, im = 0;
        for (int j = 0, w = 0; j < P; j++, w = w + k < LINE ? w + k : w + k - LINE) {
            const real *v = a + 2 * ((x * P + j) * P + z) * SISTERS + lane;
            re += cs[2 * w] * v[0] + cs[2 * w + 1] * v[SISTERS], im += cs[2 * w] * v[SISTERS] - cs[2 * w + 1] * v[0];
        }
        b[2 * i * SISTERS + lane] = re, b[(2 * i + 1) * SISTERS + lane] = im;
    }
    __syncthreads();
    for (int i = tid / SISTERS; i < LINE * P; i += FOURIER_THREADS / SISTERS) {
        real vr[P], vi[P];
#pragma unroll
        for (int j = 0; j < P; j++) vr[j] = b[2 * (j * LINE * P + i) * SISTERS + lane], vi[j] = b[(2 * (j * LINE * P + i) + 1) * SISTERS + lane];
        for (int k = 0; k < LINE; k++) {
            real re = 0, im = 0;
            int w = 0;
#pragma unroll
            for (int j = 0; j < P; j++) {
                re += cs[2 * w] * vr[j] + cs[2 * w + 1] * vi[j], im += cs[2 * w] * vi[j] - cs[2 * w + 1] * vr[j];
                w = w + k < LINE ? w + k : w + k - LINE;
            }
            real *to = spectra + (((long long)comp * WAVES + k * LINE * P + i) * parents + parent) * 16 + own;
            to[0] = re, to[8] = im;
        }
    }
}

// Spectra to potentials at the surfaces of children: check[box][component][SHELL] += them.
extern "C" __global__ void __launch_bounds__(FOURIER_THREADS)
back(const real *turns, const int *places, const int *children, const real *spectra, real *check, long long parents) {
    extern __shared__ real room[];
    real *cs = room, *a = cs + 2 * LINE, *b = a + 2 * P * P * P * SISTERS;
    const int tid = threadIdx.x, lane = tid % SISTERS, own = blockIdx.y * SISTERS + lane;
    const long long parent = blockIdx.x;
    const int comp = blockIdx.z, box = children[parent * 8 + own];
    for (int i = tid; i < 2 * LINE; i += FOURIER_THREADS) cs[i] = turns[i];
    __syncthreads();
    for (int i = tid / SISTERS; i < LINE * P; i += FOURIER_THREADS / SISTERS) {
        real re[P], im[P];
#pragma unroll
        for (int j = 0; j < P; j++) re[j] = im[j] = 0;
        for (int k = 0; k < LINE; k++) {
            const real *v = spectra + (((long long)comp * WAVES + k * LINE * P + i) * parents + parent) * 16 + own;
            const real vr = v[0], vi = v[8];
            int w = 0;
#pragma unroll
            for (int j = 0; j < P; j++) {
                re[j] += cs[2 * w] * vr - cs[2 * w + 1] * vi, im[j] += cs[2 * w] * vi + cs[2 * w + 1] * vr;
                w = w + k < LINE ? w + k : w + k - LINE;
            }
        }
#pragma unroll
        for (int j = 0; j < P; j++) b[2 * (j * LINE * P + i) * SISTERS + lane] = re[j], b[(2 * (j * LINE * P + i) + 1) * SISTERS + lane] = im[j];
    }
    __syncthreads();
    for (int i = tid / SISTERS; i < P * P * P; i += FOURIER_THREADS / SISTERS) {
        const int x = i / (P * P), j = i / P % P, z = i % P;
        real re = 0, im = 0;
        for (int k = 0, w = 0; k < LINE; k++, w = w + j < LINE ? w + j : w + j - LINE) {
            const real *v = b + 2 * ((x * LINE + k) * P + z) * SISTERS + lane;
            re += cs[2 * w] * v[0] - cs[2 * w + 1] * v[SISTERS], im += cs[2 * w] * v[SISTERS] + cs[2 * w + 1] * v[0];
        }
        a[2 * i * SISTERS + lane] = re, a[(2 * i + 1) * SISTERS + lane] = im;
    }
    __syncthreads();
    for (int i = tid / SISTERS; i < SHELL; i += FOURIER_THREADS / SISTERS) {
        const int line = places[i] / P, j = places[i] % P;
        real sum = a[2 * line * P * SISTERS + lane];
        int w = j;
        for (int k = 1; k < P; k++, w = w + j < LINE ? w + j : w + j - LINE) {
            const real *v = a + 2 * (line * P + k) * SISTERS + lane;
            sum += 2 * (cs[2 * w] * v[0] - cs[2 * w + 1] * v[SISTERS]);
        }
        if (box >= 0) check[(long long)box * SHELL * IN + comp * SHELL + i] += sum;
    }
}

// Products at one frequency for PARENTS_EACH * 32 target parents: lanes are sisters of the target. beside: the source
// parent in each of 26 directions; where there is none, one beyond the last, whose spectra are 0. One pair of components.
#define PARENTS_EACH 4
extern "C" __global__ void __launch_bounds__(256)
products(const real *blocks, const int *beside, const real *from, long long sources, real *to, long long targets) {
    __shared__ real m[26 * 8 * 16];
    const int wave = blockIdx.x, lane = threadIdx.x % 8;
    const long long first = blockIdx.y * (32LL * PARENTS_EACH) + threadIdx.x / 8;
    real re[PARENTS_EACH], im[PARENTS_EACH];
    for (int out = 0; out < POTENTIALS; out++) {
#pragma unroll
        for (int i = 0; i < PARENTS_EACH; i++) re[i] = im[i] = 0;
        for (int in = 0; in < IN; in++) {
            __syncthreads();
            for (int i = threadIdx.x; i < 26 * 8 * 16; i += 256)
                m[i] = blocks[((long long)wave * POTENTIALS * IN + out * IN + in) * (26 * 8 * 16) + i];
            __syncthreads();
            const real *slab = from + ((long long)in * WAVES + wave) * sources * 16;
            for (int d = 0; d < 26; d++) {
                const real *v[PARENTS_EACH];
#pragma unroll
                for (int i = 0; i < PARENTS_EACH; i++) {
                    const long long t = first + 32 * i;
                    v[i] = slab + 16LL * (t < targets ? beside[d * targets + t] : sources - 1);
                }
#pragma unroll
                for (int c = 0; c < 8; c += 2) {
                    const real mr = m[(d * 8 + c) * 16 + lane], mi = m[(d * 8 + c) * 16 + 8 + lane];
                    const real nr = m[(d * 8 + c + 1) * 16 + lane], ni = m[(d * 8 + c + 1) * 16 + 8 + lane];
#pragma unroll
                    for (int i = 0; i < PARENTS_EACH; i++) {
                        const real2 xr = *(const real2 *)(v[i] + c), xi = *(const real2 *)(v[i] + 8 + c);
                        re[i] += mr * xr.x - mi * xi.x, im[i] += mr * xi.x + mi * xr.x;
                        re[i] += nr * xr.y - ni * xi.y, im[i] += nr * xi.y + ni * xr.y;
                    }
                }
            }
        }
#pragma unroll
        for (int i = 0; i < PARENTS_EACH; i++) {
            const long long t = first + 32 * i;
            if (t < targets) {
                real *y = to + (((long long)out * WAVES + wave) * targets + t) * 16 + lane;
                y[0] = re[i], y[8] = im[i];
            }
        }
    }
}
