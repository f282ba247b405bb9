// Direct sums: potentials, and their gradients, at targets of charges at sources. Targets are in vectors, TILE vectors at a
// time; each source is broadcast to all of them.
#include "vector.h"

#define TILE 2

// Targets, sources and results.
typedef struct {
    long targets;
    const real *tx, *ty, *tz;
    // Added to out[c * stride + t].
    real *out;
    long stride;
    // Ranges of sources, [begin, end) each; only those before `shared` can contain the target.
    long ranges, shared;
    const unsigned *range;
    const real *sx, *sy, *sz, *charge;
    // Inverse screening length of Yukawa, wave number of Helmholtz.
    real parameter;
} sums;

// Contribution of a source at distance r, with y = 1 / r and the parameter k.
#define PAIR(name) INLINE void name##_pair(vec *acc, const real *q, real k, vec dx, vec dy, vec dz, vec r2, vec y)
#define UNUSED (void)k, (void)dx, (void)dy, (void)dz, (void)r2

INLINE void gradient(vec *acc, vec w, vec dx, vec dy, vec dz) { acc[0] -= w * dx, acc[1] -= w * dy, acc[2] -= w * dz; }

PAIR(laplace) { UNUSED; acc[0] += q[0] * y; }

PAIR(laplace_gradient) {
    UNUSED;
    vec p = q[0] * y;
    acc[0] += p;
    gradient(acc + 1, p * (y * y), dx, dy, dz);
}

PAIR(yukawa) { UNUSED; acc[0] += q[0] * (y * exponential(-k * (r2 * y))); }

PAIR(yukawa_gradient) {
    vec kr = k * (r2 * y), p = q[0] * (y * exponential(-kr));
    acc[0] += p;
    gradient(acc + 1, p * (y * y) * (kr + 1), dx, dy, dz);
}

PAIR(helmholtz) {
    UNUSED;
    vec si, co;
    sin_cos(k * (r2 * y), &si, &co);
    acc[0] += y * (q[0] * co - q[1] * si);
    acc[1] += y * (q[0] * si + q[1] * co);
}

// The gradient of e^(ikr) / r is (ikr - 1) e^(ikr) / r^3 times the difference.
PAIR(helmholtz_gradient) {
    vec si, co, kr = k * (r2 * y), y2 = y * y;
    sin_cos(kr, &si, &co);
    vec re = y * (q[0] * co - q[1] * si), im = y * (q[0] * si + q[1] * co);
    acc[0] += re, acc[1] += im;
    gradient(acc + 2, y2 * (re + kr * im), dx, dy, dz);
    gradient(acc + 5, y2 * (im - kr * re), dx, dy, dz);
}

PAIR(stokes) {
    UNUSED;
    vec d = (dx * q[0] + dy * q[1] + dz * q[2]) * (y * y);
    acc[0] += y * (q[0] + d * dx), acc[1] += y * (q[1] + d * dy), acc[2] += y * (q[2] + d * dz);
}

#define LOOP(name, masked, in) \
    for (unsigned j = from; j < to; j++) { \
        const real *q = s->charge + (long)j * (in); \
        const real x0 = s->sx[j], y0 = s->sy[j], z0 = s->sz[j]; \
        for (int i = 0; i < TILE; i++) { \
            vec dx = x[i] - x0, dy = y_[i] - y0, dz = z[i] - z0; \
            vec r2 = dx * dx + (dy * dy + dz * dz); \
            vec y = rsqrt(r2, masked); \
            name##_pair(sum[i], q, s->parameter, dx, dy, dz, r2, y); \
        } \
    }

#define SUMS(name, in, out_count) \
    static void name(const sums *s) { \
        for (long t = 0; t < s->targets; t += TILE * LANES) { \
            vec x[TILE], y_[TILE], z[TILE], sum[TILE][out_count]; \
            const long left = s->targets - t, full = left >= TILE * LANES; \
            if (full) { \
                memcpy(x, s->tx + t, sizeof x), memcpy(y_, s->ty + t, sizeof x), memcpy(z, s->tz + t, sizeof x); \
            } else { \
                /* Lanes beyond the end repeat the last target. */ \
                for (long i = 0; i < TILE * LANES; i++) { \
                    const long k = t + (i < left ? i : left - 1); \
                    ((real *)x)[i] = s->tx[k], ((real *)y_)[i] = s->ty[k], ((real *)z)[i] = s->tz[k]; \
                } \
            } \
            memset(sum, 0, sizeof sum); \
            for (long r = 0; r < s->ranges; r++) { \
                const unsigned from = s->range[2 * r], to = s->range[2 * r + 1]; \
                if (r < s->shared) { \
                    LOOP(name, 1, in) \
                } else { \
                    LOOP(name, 0, in) \
                } \
            } \
            for (int c = 0; c < out_count; c++) \
                for (int i = 0; i < TILE; i++) { \
                    real *to = s->out + c * s->stride + t + i * LANES; \
                    const long n = left - i * LANES; \
                    if (n >= LANES) *(vec *)to += sum[i][c]; \
                    else for (long l = 0; l < n; l++) to[l] += sum[i][c][l]; \
                } \
        } \
    }

SUMS(laplace, 1, 1)
SUMS(laplace_gradient, 1, 4)
SUMS(yukawa, 1, 1)
SUMS(yukawa_gradient, 1, 4)
SUMS(helmholtz, 2, 2)
SUMS(helmholtz_gradient, 2, 8)
SUMS(stokes, 3, 3)

// The arithmetic of Laplace without loads, in independent chains: the peak of the instruction mix is that of the best number of
// chains, which depends on the registers. The result prevents its removal.
#define CHAINS 8
INLINE real mix_of(long pairs, const int chains) {
    vec x[CHAINS], y[CHAINS], z[CHAINS], sum[CHAINS];
    for (int i = 0; i < chains; i++)
        x[i] = all((real)(1 + i)), y[i] = all((real)(2 + i)), z[i] = all((real)(3 + i)), sum[i] = all(0);
    real x0 = (real)0.5, y0 = (real)0.25, z0 = (real)0.75, q = (real)0.25;
    for (long n = 0; n < pairs / (chains * LANES); n++) {
        __asm__ volatile("" : "+m"(x0), "+m"(y0), "+m"(z0), "+m"(q));
        const real at[3] = {x0, y0, z0}, charge = q;
#pragma GCC unroll 8
        for (int i = 0; i < chains; i++) {
            vec dx = x[i] - at[0], dy = y[i] - at[1], dz = z[i] - at[2];
            vec r2 = dx * dx + (dy * dy + dz * dz);
            sum[i] += charge * rsqrt(r2, 0);
        }
    }
    real out = 0;
    for (int i = 0; i < chains; i++) for (long l = 0; l < LANES; l++) out += sum[i][l];
    return out;
}

static real mix(long pairs, int chains) {
    switch (chains) {
    case 1: return mix_of(pairs, 1);
    case 2: return mix_of(pairs, 2);
    case 3: return mix_of(pairs, 3);
    case 4: return mix_of(pairs, 4);
    default: return mix_of(pairs, CHAINS);
    }
}
