// Surface sums G_m(q) = sum over nodes of s_m e^{i q.r}, m = x, y, z, by one exponential a node and q:
// the direct way. Points q lie in the lanes of vectors, nodes are walked; U vectors of points at a time.
//
// Compiled once for each instruction set and precision: VBYTES is the size of a vector, BITS 32 or 64.
// Points: x, y, z in turns (q / 2 pi), d = -Im q_z log2(e), so that e^{-Im q_z z} = 2^{d z}.
// Nodes: 8 numbers each, x y z s_x s_y s_z and two of padding; with CORRECTED 16: then the six
// second moments of the triangle about its centroid, xx xy xz yy yz zz, over 24 and times (2 pi)^2.
// Sums are added to out[6][stride], doubles: re and im of x, y, z.

#include <stdint.h>

#if BITS == 32
typedef float real;
typedef int32_t word;
#define SIGN 31
#define MANTISSA 23
#define MAGIC 12582912.0f
#define LOWEST -120.0f
#else
typedef double real;
typedef int64_t word;
#define SIGN 63
#define MANTISSA 52
#define MAGIC 6755399441055744.0
#define LOWEST -1000.0
#endif

typedef real v __attribute__((vector_size(VBYTES)));
typedef word w __attribute__((vector_size(VBYTES)));
typedef real anywhere __attribute__((vector_size(VBYTES), aligned(sizeof(real))));
#define LANES ((long)(VBYTES / sizeof(real)))
#define INLINE static inline __attribute__((always_inline))

INLINE v all(real x) { return x - (v){0}; }

// sin and cos of a number of turns: to the nearest half turn, whose parity is the sign of both.
INLINE void turn(v p, v *sine, v *cosine) {
    v t = p * 2 + MAGIC;
    w sign = (w)t << SIGN;
    v r = p - (t - MAGIC) * (real)0.5;
    v u = r * r;
#if BITS == 32
    v s = (((39.759827085f * u - 76.581172645f) * u + 81.602476369f) * u - 41.341680613f) * u + 6.2831852802f;
    v c = (((56.238700435f * u - 85.239870258f) * u + 64.934572652f) * u - 19.739171210f) * u + 0.99999995303f;
#else
    v s = 0.10089695501646811163 * u - 0.71773379214134533133;
    s = s * u + 3.8199280942271642021;
    s = s * u - 15.094641676117900093;
    s = s * u + 42.05869392542868225;
    s = s * u - 76.705859752824919209;
    s = s * u + 81.605249276073615183;
    s = s * u - 41.341702240399756862;
    s = s * u + 6.2831853071795864756;
    v c = 0.27194584949998128413 * u - 1.7132184107005932616;
    c = c * u + 7.9034624920850970551;
    c = c * u - 26.426254066690256148;
    c = c * u + 60.244641313160410601;
    c = c * u - 85.456817205980613975;
    c = c * u + 64.939394022663951992;
    c = c * u - 19.739208802178707069;
    c = c * u + 1.0;
#endif
    *sine = (v)((w)(s * r) ^ sign);
    *cosine = (v)((w)c ^ sign);
}

// 2^x; what would underflow becomes 2^LOWEST.
INLINE v power(v x) {
    const w above = x > all(LOWEST);
    x = (v)(((w)x & above) | ((w)all(LOWEST) & ~above));
    v t = x + MAGIC;
    v f = x - (t - MAGIC);
#if BITS == 32
    v p = ((((0.0013390863664f * f + 0.0096760319183f) * f + 0.055503571142f) * f + 0.24022107485f) * f + 0.69314718802f) * f + 1.0000000755f;
#else
    v p = 4.455817908336064493e-10 * f + 7.0741942972885210056e-9;
    p = p * f + 1.0178057087733941105e-7;
    p = p * f + 1.3215432535912376166e-6;
    p = p * f + 0.000015252733841556772589;
    p = p * f + 0.00015403530463724354209;
    p = p * f + 0.0013333558146406470697;
    p = p * f + 0.0096181291075872566681;
    p = p * f + 0.055504108664821627039;
    p = p * f + 0.24022650695910159567;
    p = p * f + 0.69314718055994530925;
    p = p * f + 1.0;
#endif
    return (v)((w)p + ((w)t << MANTISSA));
}

INLINE void sweep(long points, const real *const q[4], long nodes, const real *node, double *out, long stride,
                  const int damped, const int corrected, const int unroll) {
    const long step = corrected ? 16 : 8;
    for (long first = 0; first < points; first += unroll * LANES) {
        v x[4], y[4], z[4], d[4], sum[4][6];
        for (int u = 0; u < unroll; u++) {
            const long at = first + u * LANES;
            x[u] = *(const anywhere *)(q[0] + at);
            y[u] = *(const anywhere *)(q[1] + at);
            z[u] = *(const anywhere *)(q[2] + at);
            if (damped) d[u] = *(const anywhere *)(q[3] + at);
            for (int m = 0; m < 6; m++) sum[u][m] = (v){0};
        }
        for (long t = 0; t < nodes; t++) {
            const real *n = node + t * step;
            for (int u = 0; u < unroll; u++) {
                v sine, cosine;
                turn(x[u] * n[0] + y[u] * n[1] + z[u] * n[2], &sine, &cosine);
                if (damped) {
                    const v size = power(d[u] * n[2]);
                    sine *= size;
                    cosine *= size;
                }
                if (corrected) {
                    // 1 - (p1^2 + p2^2 + p3^2) / 24; log2(e) of d against the turns of q.
                    const real ratio = (real)-0.11031780007632579;
                    v g = 1 - x[u] * (n[8] * x[u] + 2 * n[9] * y[u] + 2 * n[10] * z[u]) -
                          y[u] * (n[11] * y[u] + 2 * n[12] * z[u]) - n[13] * z[u] * z[u];
                    if (damped) {
                        v i = ratio * d[u];
                        g += n[13] * i * i;
                        v h = -2 * i * (n[10] * x[u] + n[12] * y[u] + n[13] * z[u]);
                        v c = cosine * g - sine * h;
                        sine = sine * g + cosine * h;
                        cosine = c;
                    } else {
                        sine *= g;
                        cosine *= g;
                    }
                }
                for (int m = 0; m < 3; m++) {
                    sum[u][2 * m] += n[3 + m] * cosine;
                    sum[u][2 * m + 1] += n[3 + m] * sine;
                }
            }
        }
        for (int u = 0; u < unroll; u++)
            for (int m = 0; m < 6; m++)
                for (long l = 0; l < LANES; l++) out[m * stride + first + u * LANES + l] += sum[u][m][l];
    }
}

#define JOIN(a, b, c) a##_##b##_##c
#define NAME(a, b, c) JOIN(a, b, c)

// points is a multiple of 4 vectors.
void NAME(direct, ISA, BITS)(long points, const real *x, const real *y, const real *z, const real *d, long nodes,
                             const real *node, double *out, long stride, int damped, int corrected, int unroll) {
    const real *const q[4] = {x, y, z, d};
#define CASE(D, C, U)                                                      \
    if (damped == D && corrected == C && unroll == U) {                    \
        sweep(points, q, nodes, node, out, stride, D, C, U);               \
        return;                                                            \
    }
    CASE(0, 0, 1) CASE(0, 0, 2) CASE(0, 0, 4)
    CASE(1, 0, 1) CASE(1, 0, 2) CASE(1, 0, 4)
    CASE(0, 1, 1) CASE(0, 1, 2)
    CASE(1, 1, 1) CASE(1, 1, 2)
    sweep(points, q, nodes, node, out, stride, damped, corrected, 1);
}

// 2^{d[i]} e^{2 pi i turns[i]}; any n.
void NAME(wave, ISA, BITS)(long n, const real *turns, const real *d, real *re, real *im) {
    for (long i = 0; i < n; i += LANES) {
        const long rest = n - i < LANES ? n - i : LANES;
        v t = {0}, s = {0}, sine, cosine;
        if (rest == LANES) {
            t = *(const anywhere *)(turns + i);
            s = *(const anywhere *)(d + i);
        } else {
            for (long l = 0; l < rest; l++) {
                t[l] = turns[i + l];
                s[l] = d[i + l];
            }
        }
        turn(t, &sine, &cosine);
        s = power(s);
        sine *= s;
        cosine *= s;
        if (rest == LANES) {
            *(anywhere *)(re + i) = cosine;
            *(anywhere *)(im + i) = sine;
        } else {
            for (long l = 0; l < rest; l++) {
                re[i + l] = cosine[l];
                im[i + l] = sine[l];
            }
        }
    }
}

// By these the caller finds them: pointers, so that nobody declares the functions again.
__typeof__(NAME(direct, ISA, BITS)) *const NAME(direct_at, ISA, BITS) = NAME(direct, ISA, BITS);
__typeof__(NAME(wave, ISA, BITS)) *const NAME(wave_at, ISA, BITS) = NAME(wave, ISA, BITS);
