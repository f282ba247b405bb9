// Interactions of a target with a source. Macros: DOUBLE, and KERNEL of 0 Laplace, 1 Yukawa,
// 2 Helmholtz, 3 Stokes; GRADIENT, whether gradients are computed; ROOT, the method of reciprocal roots of doubles.
#if DOUBLE
typedef double real;
struct __align__(16) real4 { double x, y, z, w; };
typedef double2 real2;
#else
typedef float real;
typedef float4 real4;
typedef float2 real2;
#endif

// Values per source (IN), and per target on surfaces (POTENTIALS) and at points (OUT).
#define IN (KERNEL == 2 ? 2 : KERNEL == 3 ? 3 : 1)
#define POTENTIALS IN
#define OUT (GRADIENT ? 4 * IN : IN)

// 1 / sqrt(r2); 0 of 0 where `masked`.
template <int masked> __device__ __forceinline__ real root(real r2) {
#if DOUBLE && ROOT == 1 && defined(__CUDA_ARCH__)
    if (masked) return r2 == 0 ? 0 : rsqrt(r2);
    // The upper half of a root and a step of Newton: 1e-12.
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(r2));
    return y + (0.5 * y) * (1 - (r2 * y) * y);
#elif DOUBLE
    const double out = rsqrt(r2);
    return masked && r2 == 0 ? 0 : out;
#elif ROOT == 2
    const float out = 1 / sqrtf(r2);
    return masked && r2 == 0 ? 0 : out;
#else
    const float out = rsqrtf(r2);
    return masked && r2 == 0 ? 0 : out;
#endif
}

// Adds the contribution of a source with charges q to `sum`; k is the parameter of the kernel.
template <int gradient, int masked>
__device__ __forceinline__ void pair(real *sum, const real *q, real k, real dx, real dy, real dz) {
    const real r2 = dx * dx + (dy * dy + dz * dz), y = root<masked>(r2);
#if KERNEL == 0
    const real p = q[0] * y;
    sum[0] += p;
    const real w = p * (y * y);
    if (gradient) sum[1] -= w * dx, sum[2] -= w * dy, sum[3] -= w * dz;
#elif KERNEL == 1
    const real kr = k * (r2 * y), p = q[0] * (y * exp(-kr));
    sum[0] += p;
    const real w = p * (y * y) * (kr + 1);
    if (gradient) sum[1] -= w * dx, sum[2] -= w * dy, sum[3] -= w * dz;
#elif KERNEL == 2
    const real kr = k * (r2 * y), si = sin(kr), co = cos(kr);
    const real re = y * (q[0] * co - q[1] * si), im = y * (q[0] * si + q[1] * co);
    sum[0] += re, sum[1] += im;
    const real a = y * y * (re + kr * im), b = y * y * (im - kr * re);
    if (gradient) {
        sum[2] -= a * dx, sum[3] -= a * dy, sum[4] -= a * dz;
        sum[5] -= b * dx, sum[6] -= b * dy, sum[7] -= b * dz;
    }
#else
    const real d = (dx * q[0] + dy * q[1] + dz * q[2]) * (y * y);
    sum[0] += y * (q[0] + d * dx), sum[1] += y * (q[1] + d * dy), sum[2] += y * (q[2] + d * dz);
#endif
}
