// Convolution of the charges of eight sibling boxes on their grids with the kernel, by Fourier transforms of length
// n = 2p - 1: dense, since only p of the n values of a line are nonzero, or needed.
//
// A frequency is sixteen values: real parts of the eight siblings, then imaginary parts.
#include "vector.h"

// Siblings per vector.
#define SIBLINGS (8 * (long)sizeof(real) < VBYTES ? 8 : LANES)
#if !DOUBLE && VBYTES == 64
typedef real part __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));
#else
typedef vec part;
#endif
#define RE(x, i) (*(part *)((x) + 16 * (i)))
#define IM(x, i) (*(part *)((x) + 16 * (i) + 8))

// Transforms a line of `from` complex values (stride s) to n frequencies (stride t).
INLINE void line_forward(int n, int from, const real *cs, const real *in, long s, real *out, long t) {
    const part first = RE(in, 0), second = IM(in, 0), none = first - first;
    part re = first, im = second;
    for (int j = 1; j < from; j++) re += RE(in, j * s), im += IM(in, j * s);
    RE(out, 0) = re, IM(out, 0) = im;
    for (int k = 1; 2 * k < n; k++) {
        const real *c = cs + 2 * n * k;
        part ar = first, ai = second, br = none, bi = none;
        for (int j = 1; j < from; j++) {
            const part xr = RE(in, j * s), xi = IM(in, j * s);
            ar += c[2 * j] * xr, ai += c[2 * j] * xi;
            br += c[2 * j + 1] * xr, bi += c[2 * j + 1] * xi;
        }
        RE(out, k * t) = ar + bi, IM(out, k * t) = ai - br;
        RE(out, (n - k) * t) = ar - bi, IM(out, (n - k) * t) = ai + br;
    }
}

// `from` points along each axis to n * n * p frequencies, frequency f at out + 16 f stride; `from` is p (charges) or n (the kernel
// itself). grid: [from^3][8]; work: p * from * (from + n) frequencies. cs[k][j]: cosine and sine of 2 pi k j / n.
static void forward(int p, int from, const real *cs, const real *grid, real *out, long stride, real *work) {
    const int n = 2 * p - 1;
    for (long h = 0; h < 8; h += SIBLINGS) {
        real *a = work + h, *b = a + 16L * from * from * p, *to = out + h;
        const real *g = grid + h;
        for (long l = 0; l < (long)from * from; l++)
            for (int k = 0; k < p; k++) {
                const real *c = cs + 2 * n * k, *x = g + 8 * l * from;
                part re = *(const part *)x, im = re - re;
                for (int j = 1; j < from; j++) {
                    const part xj = *(const part *)(x + 8 * j);
                    re += c[2 * j] * xj, im -= c[2 * j + 1] * xj;
                }
                RE(a, l * p + k) = re, IM(a, l * p + k) = im;
            }
        for (int i = 0; i < from; i++)
            for (int k = 0; k < p; k++)
                line_forward(n, from, cs, a + 16L * (i * from * p + k), p, b + 16L * (i * n * p + k), p);
        for (long f = 0; f < (long)n * p; f++)
            line_forward(n, from, cs, b + 16 * f, (long)n * p, to + 16 * f * stride, (long)n * p * stride);
    }
}

// Inverse transform of a line of n frequencies to its first p points.
INLINE void line_back(int n, int p, const real *cs, const real *in, long s, real *out, long t) {
    part sr[16], si[16], dr[16], di[16];
    for (int k = 1; k < p; k++) {
        const part xr = RE(in, k * s), xi = IM(in, k * s), yr = RE(in, (n - k) * s), yi = IM(in, (n - k) * s);
        sr[k] = xr + yr, si[k] = xi + yi, dr[k] = xr - yr, di[k] = xi - yi;
    }
    for (int j = 0; j < p; j++) {
        const real *c = cs + 2 * n * j;
        part re = RE(in, 0), im = IM(in, 0), r2 = re - re, i2 = r2;
        for (int k = 1; k < p; k++) {
            re += c[2 * k] * sr[k], r2 += c[2 * k + 1] * di[k];
            im += c[2 * k] * si[k], i2 += c[2 * k + 1] * dr[k];
        }
        RE(out, j * t) = re - r2, IM(out, j * t) = im + i2;
    }
}

// Cache lines to prefetch.
#define AHEAD 4

// Inverse transforms of eight siblings to their p^3 points. work: p * p * (n + p) frequencies.
static void back(int p, const real *cs, const real *in, long stride, real *grid, real *work) {
    const int n = 2 * p - 1;
    for (long h = 0; h < 8; h += SIBLINGS) {
        real *b = work + h, *a = b + 16L * p * n * p, *g = grid + h;
        for (long f = 0; f < (long)n * p; f++) {
            // Frequencies are too far apart for the hardware prefetcher.
            for (int k = 0; k < n; k++) {
                const char *next = (const char *)(in + h + 16 * stride * (f + AHEAD + (long)k * n * p));
                __builtin_prefetch(next, 0, 2), __builtin_prefetch(next + 64, 0, 2);
            }
            line_back(n, p, cs, (real *)in + h + 16 * f * stride, (long)n * p * stride, b + 16 * f, (long)n * p);
        }
        for (int i = 0; i < p; i++)
            for (int k = 0; k < p; k++) line_back(n, p, cs, b + 16L * (i * n * p + k), p, a + 16L * (i * p * p + k), p);
        for (long l = 0; l < (long)p * p; l++)
            for (int j = 0; j < p; j++) {
                const real *c = cs + 2 * n * j;
                part even = RE(a, l * p), odd = even - even;
                for (int k = 1; k < p; k++) even += 2 * c[2 * k] * RE(a, l * p + k), odd += 2 * c[2 * k + 1] * IM(a, l * p + k);
                *(part *)(g + 8 * (l * p + j)) = even - odd;
            }
    }
}

// At one frequency: y[t] += m[d] x[s] for all pairs (t, s) of parents in each direction d, of eight children each. The pairs
// of d are first[d] .. first[d + 1]; m is [directions][8 sources][16].
static void hadamard(int directions, const unsigned *first, const unsigned *parent_pairs, const real *m, const real *x, real *y) {
#if !DOUBLE && VBYTES == 64
    enum { CHUNK = 8 };
#else
    enum { CHUNK = 4 };
#endif
    for (int d = 0; d < directions; d++, m += 8 * 16)
        for (unsigned i = first[d]; i < first[d + 1]; i += CHUNK) {
            const int n = first[d + 1] - i < CHUNK ? (int)(first[d + 1] - i) : CHUNK;
            const real *from[CHUNK];
            real *to[CHUNK];
#pragma GCC unroll 8
            for (int k = 0; k < CHUNK; k++) {
                const unsigned at = i + (k < n ? k : 0);
                to[k] = y + 16L * parent_pairs[2 * at], from[k] = x + 16L * parent_pairs[2 * at + 1];
            }
#if !DOUBLE && VBYTES == 64
            // Both parts in one vector.
            vec sum[CHUNK];
#pragma GCC unroll 8
            for (int k = 0; k < CHUNK; k++) sum[k] = *(vec *)to[k];
            for (int c = 0; c < 8; c++) {
                const __m512 a = _mm512_loadu_ps(m + 16 * c), swapped = _mm512_shuffle_f32x4(a, a, 0x4e);
                const vec b = (vec)_mm512_xor_ps(swapped, _mm512_castsi512_ps(_mm512_inserti64x4(
                    _mm512_setzero_si512(), _mm256_set1_epi32((int)0x80000000), 0)));
#pragma GCC unroll 8
                for (int k = 0; k < CHUNK; k++) sum[k] += (vec)a * from[k][c] + b * from[k][8 + c];
            }
#pragma GCC unroll 8
            for (int k = 0; k < CHUNK; k++)
                if (k < n) *(vec *)to[k] = sum[k];
#else
            for (long h = 0; h < 8; h += SIBLINGS) {
                part re[CHUNK], im[CHUNK];
#pragma GCC unroll 8
                for (int k = 0; k < CHUNK; k++) re[k] = RE(to[k] + h, 0), im[k] = IM(to[k] + h, 0);
#pragma GCC unroll 1
                for (int c = 0; c < 8; c++) {
                    const part ar = *(const part *)(m + 16 * c + h), ai = *(const part *)(m + 16 * c + 8 + h);
#pragma GCC unroll 8
                    for (int k = 0; k < CHUNK; k++) {
                        const real xr = from[k][c], xi = from[k][8 + c];
                        re[k] += ar * xr, im[k] += ai * xr;
                        re[k] -= ai * xi, im[k] += ar * xi;
                    }
                }
#pragma GCC unroll 8
                for (int k = 0; k < CHUNK; k++)
                    if (k < n) RE(to[k] + h, 0) = re[k], IM(to[k] + h, 0) = im[k];
            }
#endif
        }
}
