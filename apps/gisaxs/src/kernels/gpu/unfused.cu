// The sums of direct.cu in one kernel or in two (HipGISAXS, section III-A1): `terms` computes each term of a node and a q and
// stores it, `reduce` adds them up. Fused, `terms` adds up what it computes, and `reduce` has nothing to do.
//
//   fused             1: one kernel
//   dim_y, dim_z      threads of a block along both directions of q, a q each
//   chunk             nodes of a block of `terms`
//   steps             nodes of a step, unrolled
//   damped            q_z is complex
// Arguments as of direct.cu.

#include "sine.cuh"

#if !fused
// Terms of a hyperblock: all nodes, all q.
__device__ float4 stored[(long long)node_count * point_count];
#endif

__device__ __forceinline__ float4 term(const float4 *node, long long t, float qx, float y, float z, float d) {
    const float4 a = node[2 * t], b = node[2 * t + 1];
    float s, c;
    by_hardware<true>(__fmaf_rn(qx, a.x, __fmaf_rn(y, a.y, z * a.z)), &s, &c);
    const float size = damped ? exp2f(d * a.z) : 1.0f;
    const float w = __fmaf_rn(qx, a.w, y * b.x) * size, v = b.y * size;
    return float4{w * c, w * s, v * c, v * s};
}

__device__ __forceinline__ void add(float4 *sum, float4 x) {
    sum->x += x.x;
    sum->y += x.y;
    sum->z += x.z;
    sum->w += x.w;
}

__device__ __forceinline__ void put(float *out, long long size, long long at, float4 sum) {
    out[at] = sum.x;
    out[size + at] = sum.y;
    out[2 * size + at] = sum.z;
    out[3 * size + at] = sum.w;
}

extern "C" __global__ void __launch_bounds__(dim_y * dim_z)
    terms(long long nodes, const float4 *node, long long ny, const float *qy, long long nz, const float *qz, const float *loss,
          float qx, float *out) {
    const long long j = (long long)blockIdx.x * dim_y + threadIdx.x, k = (long long)blockIdx.y * dim_z + threadIdx.y;
    if (j >= ny || k >= nz) return;
    const long long at = k * ny + j, size = ny * nz;
    const float y = qy[j], z = qz[k], d = damped ? loss[k] : 0.0f;
#if fused
    float4 sum = float4{0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll steps
    for (int t = 0; t < (int)nodes; t++) add(&sum, term(node, t, qx, y, z, d));
    put(out, size, at, sum);
#else
    const long long first = (long long)blockIdx.z * chunk;
#pragma unroll steps
    for (int t = 0; t < chunk; t++)
        if (first + t < nodes) stored[(first + t) * size + at] = term(node, first + t, qx, y, z, d);
#endif
}

extern "C" __global__ void __launch_bounds__(dim_y * dim_z)
    reduce(long long nodes, const float4 *node, long long ny, const float *qy, long long nz, const float *qz, const float *loss,
           float qx, float *out) {
#if !fused
    const long long j = (long long)blockIdx.x * dim_y + threadIdx.x, k = (long long)blockIdx.y * dim_z + threadIdx.y;
    if (j >= ny || k >= nz) return;
    const long long at = k * ny + j, size = ny * nz;
    float4 sum = float4{0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll steps
    for (int t = 0; t < (int)nodes; t++) add(&sum, stored[t * size + at]);
    put(out, size, at, sum);
#endif
}
