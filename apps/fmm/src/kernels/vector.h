// Vectors of the instruction set, and functions on them.
#pragma once
#include <math.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if DOUBLE
typedef double real;
typedef long long whole;
#else
typedef float real;
typedef int whole;
#endif

#define LANES ((long)(VBYTES / sizeof(real)))
#define INLINE static inline __attribute__((always_inline))

typedef real vec __attribute__((vector_size(VBYTES), aligned(sizeof(real)), may_alias));
typedef whole wvec __attribute__((vector_size(VBYTES), aligned(sizeof(real)), may_alias));

INLINE vec all(real x) { return x - (vec){0}; }

// 1 / sqrt(x): to 2e-11 (f64) or the last bits (f32); if masked, x may be 0, with result 0, or tiny; otherwise x is
// above 1e-37.
INLINE vec rsqrt(vec x, int masked) {
#if defined(__AVX512F__) && DOUBLE
    vec y = (vec)(masked ? _mm512_maskz_rsqrt14_pd(_mm512_cmp_pd_mask((__m512d)x, _mm512_setzero_pd(), _CMP_GT_OQ),
                                                   (__m512d)x)
                         : _mm512_rsqrt14_pd((__m512d)x));
    // One step of third order: 14 bits to 42.
    vec h = 1 - (x * y) * y;
    return y + (y * h) * (h * (real)0.375 + (real)0.5);
#elif defined(__AVX512F__)
    vec y = (vec)(masked ? _mm512_maskz_rsqrt14_ps(_mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_GT_OQ),
                                                   (__m512)x)
                         : _mm512_rsqrt14_ps((__m512)x));
    vec h = 1 - (x * y) * y;
    return y + (y * (real)0.5) * h;
#elif defined(__AVX2__) && DOUBLE
    if (masked && __builtin_expect(_mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, _mm256_set1_pd(1e-37), _CMP_LT_OQ)), 0)) {
        // Beyond the range of the estimate, which is of single precision.
        vec y = (vec)_mm256_div_pd(_mm256_set1_pd(1), _mm256_sqrt_pd((__m256d)x));
        return (vec)((wvec)y & (x > 0));
    }
    vec y = (vec)_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps((__m256d)x)));
    // One step of third order: 12 bits to 36.
    vec h = 1 - (x * y) * y;
    return y + (y * h) * (h * (real)0.375 + (real)0.5);
#elif defined(__AVX2__)
    vec y = (vec)_mm256_rsqrt_ps((__m256)x);
    if (masked) y = (vec)((wvec)y & (x > 0));
    vec h = 1 - (x * y) * y;
    return y + (y * (real)0.5) * h;
#else
    vec y;
    for (long i = 0; i < LANES; i++) y[i] = 1 / (DOUBLE ? sqrt(x[i]) : sqrtf(x[i]));
    return masked ? (vec)((wvec)y & (x > 0)) : y;
#endif
}

// The nearest integer, for |x| below 2^51 (2^22).
INLINE vec nearest(vec x) {
    const vec big = all(DOUBLE ? 6755399441055744.0 : 12582912.0f);
    vec y = x + big;
    // Opaque, so that a compiler that may reorder sums cannot drop it.
    __asm__("" : "+m"(y));
    return y - big;
}

// e^x for x <= 0; 0 below the smallest normal number.
INLINE vec exponential(vec x) {
    const real low = DOUBLE ? -708 : -87;
    wvec in = x > low;
    x = (vec)((wvec)x & in);
    vec n = nearest(x * (real)1.4426950408889634074);
    vec r = (x - n * (real)(DOUBLE ? 0.693145751953125 : 0.693359375)) -
            n * (real)(DOUBLE ? 1.42860682030941723212e-6 : -2.12194440e-4);
    vec s;
#if DOUBLE
    s = all(1.0 / 479001600);
    s = s * r + 1.0 / 39916800;
    s = s * r + 1.0 / 3628800;
    s = s * r + 1.0 / 362880;
    s = s * r + 1.0 / 40320;
    s = s * r + 1.0 / 5040;
    s = s * r + 1.0 / 720;
#else
    s = all(1.0f / 720);
#endif
    s = s * r + (real)(1.0 / 120);
    s = s * r + (real)(1.0 / 24);
    s = s * r + (real)(1.0 / 6);
    s = s * r + (real)0.5;
    s = s * r + 1;
    s = s * r + 1;
    wvec power = __builtin_convertvector(n, wvec) + (DOUBLE ? 1023 : 127);
    s *= (vec)(power << (DOUBLE ? 52 : 23));
    return (vec)((wvec)s & in);
}

// Sine and cosine of x >= 0, not large.
INLINE void sin_cos(vec x, vec *sine, vec *cosine) {
    vec n = nearest(x * (real)0.63661977236758134308);
    vec r;
#if DOUBLE
    r = ((x - n * 1.57079632673412561417) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
#else
    r = ((x - n * 1.5703125f) - n * 4.83751296997e-4f) - n * 7.54978995489e-8f;
#endif
    vec z = r * r, s, c;
#if DOUBLE
    s = all(1.0 / 355687428096000.0);
    s = 1.0 / 1307674368000.0 - s * z;
    s = 1.0 / 6227020800.0 - s * z;
    s = 1.0 / 39916800 - s * z;
    s = 1.0 / 362880 - s * z;
    c = all(1.0 / 20922789888000.0);
    c = 1.0 / 87178291200.0 - c * z;
    c = 1.0 / 479001600 - c * z;
    c = 1.0 / 3628800 - c * z;
    c = 1.0 / 40320 - c * z;
#else
    s = all(1.0f / 362880);
    c = all(1.0f / 40320);
#endif
    s = (real)(1.0 / 5040) - s * z;
    s = (real)(1.0 / 120) - s * z;
    s = (real)(1.0 / 6) - s * z;
    s = r - r * z * s;
    c = (real)(1.0 / 720) - c * z;
    c = (real)(1.0 / 24) - c * z;
    c = (real)0.5 - c * z;
    c = 1 - z * c;
    wvec quarter = __builtin_convertvector(n, wvec);
    wvec odd = (quarter & 1) != 0;
    vec a = (vec)(((wvec)c & odd) | ((wvec)s & ~odd)), b = (vec)(((wvec)s & odd) | ((wvec)c & ~odd));
    const int sign = DOUBLE ? 63 : 31;
    *sine = (vec)((wvec)a ^ ((quarter >> 1) << sign));
    *cosine = (vec)((wvec)b ^ (((quarter + 1) >> 1) << sign));
}
