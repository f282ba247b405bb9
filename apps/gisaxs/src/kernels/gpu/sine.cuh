// Sine and cosine of 2 pi p.
#pragma once

__device__ __forceinline__ void by_polynomial(float p, float *s, float *c) {
    // To the nearest half turn, whose parity is the sign of both.
    const float t = __fmaf_rn(p, 2.0f, 12582912.0f);
    const unsigned sign = __float_as_uint(t) << 31;
    const float r = __fmaf_rn(t - 12582912.0f, -0.5f, p);
    const float u = r * r;
    float a = 39.759827085f, b = 56.238700435f;
    a = __fmaf_rn(a, u, -76.581172645f);
    b = __fmaf_rn(b, u, -85.239870258f);
    a = __fmaf_rn(a, u, 81.602476369f);
    b = __fmaf_rn(b, u, 64.934572652f);
    a = __fmaf_rn(a, u, -41.341680613f);
    b = __fmaf_rn(b, u, -19.739171210f);
    a = __fmaf_rn(a, u, 6.2831852802f) * r;
    b = __fmaf_rn(b, u, 0.99999995303f);
    *s = __uint_as_float(__float_as_uint(a) ^ sign);
    *c = __uint_as_float(__float_as_uint(b) ^ sign);
}

// `whole`: whole turns are taken off first.
template <bool whole> __device__ __forceinline__ void by_hardware(float p, float *s, float *c) {
    if (whole) p -= __fadd_rn(__fadd_rn(p, 12582912.0f), -12582912.0f);
    const float x = p * 6.2831853072f;
    *s = __sinf(x);
    *c = __cosf(x);
}
