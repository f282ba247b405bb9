// M2L by Fourier transforms of length LINE = 2 P - 1, as in fourier.c. A block transforms SIBLINGS of a parent's eight
// children.
// Spectra are [component][frequency][parent][16]: real parts of eight siblings, then imaginary parts.
#define LINE (2 * P - 1)
#define FREQUENCIES (LINE * LINE * P)
#define FOURIER_THREADS 256

// twiddles: cosine and sine of 2 pi i / LINE. children: box of each octant of a parent, or -1. grid: grid indices of the surface.
extern "C" __global__ void __launch_bounds__(FOURIER_THREADS)
m2l_fft(Transform a) {
    const long long parents = a.parents;
    extern __shared__ real tile[];
    real *cs = tile, *work = cs + 2 * LINE, *b = work + 2 * P * P * P * SIBLINGS;
    const int tid = threadIdx.x, lane = tid % SIBLINGS, sibling = blockIdx.y * SIBLINGS + lane;
    const long long parent = blockIdx.x;
    const int comp = blockIdx.z, box = a.children[parent * 8 + sibling];
    for (int i = tid; i < 2 * LINE; i += FOURIER_THREADS) cs[i] = a.twiddles[i];
    for (int i = tid; i < P * P * P * SIBLINGS; i += FOURIER_THREADS) b[i] = 0;
    __syncthreads();
    for (int i = tid / SIBLINGS; i < SURFACE; i += FOURIER_THREADS / SIBLINGS)
        if (box >= 0) b[a.grid[i] * SIBLINGS + lane] = a.surfaces[((long long)box * SURFACE + i) * IN + comp];
    __syncthreads();
    for (int i = tid / SIBLINGS; i < P * P * P; i += FOURIER_THREADS / SIBLINGS) {
        const int line = i / P, k = i % P;
        real re = 0, im = 0;
        for (int j = 0, w = 0; j < P; j++, w = w + k < LINE ? w + k : w + k - LINE) {
            const real v = b[(line * P + j) * SIBLINGS + lane];
            re += cs[2 * w] * v, im -= cs[2 * w + 1] * v;
        }
        work[2 * i * SIBLINGS + lane] = re, work[(2 * i + 1) * SIBLINGS + lane] = im;
    }
    __syncthreads();
    // Lines along y of each x and kz.
    for (int i = tid / SIBLINGS; i < P * LINE * P; i += FOURIER_THREADS / SIBLINGS) {
        const int x = i / (LINE * P), k = i / P % LINE, z = i % P;
        real re = 0, im = 0;
        for (int j = 0, w = 0; j < P; j++, w = w + k < LINE ? w + k : w + k - LINE) {
            const real *v = work + 2 * ((x * P + j) * P + z) * SIBLINGS + lane;
            re += cs[2 * w] * v[0] + cs[2 * w + 1] * v[SIBLINGS], im += cs[2 * w] * v[SIBLINGS] - cs[2 * w + 1] * v[0];
        }
        b[2 * i * SIBLINGS + lane] = re, b[(2 * i + 1) * SIBLINGS + lane] = im;
    }
    __syncthreads();
    for (int i = tid / SIBLINGS; i < LINE * P; i += FOURIER_THREADS / SIBLINGS) {
        real vr[P], vi[P];
#pragma unroll
        for (int j = 0; j < P; j++) vr[j] = b[2 * (j * LINE * P + i) * SIBLINGS + lane], vi[j] = b[(2 * (j * LINE * P + i) + 1) * SIBLINGS + lane];
        for (int k = 0; k < LINE; k++) {
            real re = 0, im = 0;
            int w = 0;
#pragma unroll
            for (int j = 0; j < P; j++) {
                re += cs[2 * w] * vr[j] + cs[2 * w + 1] * vi[j], im += cs[2 * w] * vi[j] - cs[2 * w + 1] * vr[j];
                w = w + k < LINE ? w + k : w + k - LINE;
            }
            real *to = a.spectra + (((long long)comp * FREQUENCIES + k * LINE * P + i) * parents + parent) * 16 + sibling;
            to[0] = re, to[8] = im;
        }
    }
}

// Spectra to potentials at the surfaces of children: check[box][component][SURFACE] += them.
extern "C" __global__ void __launch_bounds__(FOURIER_THREADS)
m2l_inverse_fft(Transform a) {
    const long long parents = a.parents;
    extern __shared__ real tile[];
    real *cs = tile, *work = cs + 2 * LINE, *b = work + 2 * P * P * P * SIBLINGS;
    const int tid = threadIdx.x, lane = tid % SIBLINGS, sibling = blockIdx.y * SIBLINGS + lane;
    const long long parent = blockIdx.x;
    const int comp = blockIdx.z, box = a.children[parent * 8 + sibling];
    for (int i = tid; i < 2 * LINE; i += FOURIER_THREADS) cs[i] = a.twiddles[i];
    __syncthreads();
    for (int i = tid / SIBLINGS; i < LINE * P; i += FOURIER_THREADS / SIBLINGS) {
        real re[P], im[P];
#pragma unroll
        for (int j = 0; j < P; j++) re[j] = im[j] = 0;
        for (int k = 0; k < LINE; k++) {
            const real *v = a.spectra + (((long long)comp * FREQUENCIES + k * LINE * P + i) * parents + parent) * 16 + sibling;
            const real vr = v[0], vi = v[8];
            int w = 0;
#pragma unroll
            for (int j = 0; j < P; j++) {
                re[j] += cs[2 * w] * vr - cs[2 * w + 1] * vi, im[j] += cs[2 * w] * vi + cs[2 * w + 1] * vr;
                w = w + k < LINE ? w + k : w + k - LINE;
            }
        }
#pragma unroll
        for (int j = 0; j < P; j++) b[2 * (j * LINE * P + i) * SIBLINGS + lane] = re[j], b[(2 * (j * LINE * P + i) + 1) * SIBLINGS + lane] = im[j];
    }
    __syncthreads();
    for (int i = tid / SIBLINGS; i < P * P * P; i += FOURIER_THREADS / SIBLINGS) {
        const int x = i / (P * P), j = i / P % P, z = i % P;
        real re = 0, im = 0;
        for (int k = 0, w = 0; k < LINE; k++, w = w + j < LINE ? w + j : w + j - LINE) {
            const real *v = b + 2 * ((x * LINE + k) * P + z) * SIBLINGS + lane;
            re += cs[2 * w] * v[0] - cs[2 * w + 1] * v[SIBLINGS], im += cs[2 * w] * v[SIBLINGS] + cs[2 * w + 1] * v[0];
        }
        work[2 * i * SIBLINGS + lane] = re, work[(2 * i + 1) * SIBLINGS + lane] = im;
    }
    __syncthreads();
    for (int i = tid / SIBLINGS; i < SURFACE; i += FOURIER_THREADS / SIBLINGS) {
        const int line = a.grid[i] / P, j = a.grid[i] % P;
        real sum = work[2 * line * P * SIBLINGS + lane];
        int w = j;
        for (int k = 1; k < P; k++, w = w + j < LINE ? w + j : w + j - LINE) {
            const real *v = work + 2 * (line * P + k) * SIBLINGS + lane;
            sum += 2 * (cs[2 * w] * v[0] - cs[2 * w + 1] * v[SIBLINGS]);
        }
        if (box >= 0) a.surfaces[(long long)box * SURFACE * IN + comp * SURFACE + i] += sum;
    }
}

// Products at one frequency for PARENTS_EACH * 32 target parents: lanes are siblings of the target. neighbours: the source
// parent in each of 26 directions, or one beyond the last, whose spectra are 0. One pair of components.
#define PARENTS_EACH 4
extern "C" __global__ void __launch_bounds__(256)
m2l_hadamard(Hadamard h) {
    const long long sources = h.sources, targets = h.targets;
    __shared__ real m[26 * 8 * 16];
    const int frequency = blockIdx.x, lane = threadIdx.x % 8;
    const long long first = blockIdx.y * (32LL * PARENTS_EACH) + threadIdx.x / 8;
    real re[PARENTS_EACH], im[PARENTS_EACH];
    for (int out = 0; out < POTENTIALS; out++) {
#pragma unroll
        for (int i = 0; i < PARENTS_EACH; i++) re[i] = im[i] = 0;
        for (int in = 0; in < IN; in++) {
            __syncthreads();
            for (int i = threadIdx.x; i < 26 * 8 * 16; i += 256)
                m[i] = h.blocks[((long long)frequency * POTENTIALS * IN + out * IN + in) * (26 * 8 * 16) + i];
            __syncthreads();
            const real *slab = h.from + ((long long)in * FREQUENCIES + frequency) * sources * 16;
            for (int d = 0; d < 26; d++) {
                const real *v[PARENTS_EACH];
#pragma unroll
                for (int i = 0; i < PARENTS_EACH; i++) {
                    const long long t = first + 32 * i;
                    v[i] = slab + 16LL * (t < targets ? h.neighbours[d * targets + t] : sources - 1);
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
                real *y = h.to + (((long long)out * FREQUENCIES + frequency) * targets + t) * 16 + lane;
                y[0] = re[i], y[8] = im[i];
            }
        }
    }
}
