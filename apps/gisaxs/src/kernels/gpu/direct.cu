// Surface sums on a tensor grid, one exponential for each node and q (HipGISAXS, section on GPUs):
//   S1 = sum (q_x s_x + q_y s_y) e^{i q.r},  S2 = sum s_z e^{i q.r},  |e| = 2^{d z}.
// A thread keeps per_y x per_z points of q in registers and walks the nodes, which pass through shared memory
// in tiles; buffers of them are on their way at once. What nodes of a hyperblock give is added to out.
//
//   dim_y, dim_z      threads of a block along both directions
//   per_y, per_z      points of a thread
//   tile, buffers     nodes of a tile, tiles in shared memory
//   steps             nodes of a step, unrolled
//   sine              0 polynomials, 1 hardware, 2 hardware after taking whole turns off
//   by_hand           of the points of a thread, how many take polynomials all the same (both units busy)
//   h_y, h_z, h_t     hyperblock: q along both directions in flight at once, nodes summed in single precision
//   damped            q_z is complex
// Nodes: x y z s_x s_y s_z 0 0, padded with zeros to whole tiles. q in turns (over 2 pi).

#include "copies.cuh"
#include "sine.cuh"

#define block_y (dim_y * per_y)
#define block_z (dim_z * per_z)
#define threads (dim_y * dim_z)

__device__ __forceinline__ void fetch(float4 *to, const float4 *from, int thread) {
    for (int i = thread; i < 2 * tile; i += threads) {
#if buffers > 1
        copy_16(to + i, from + i);
#else
        to[i] = from[i];
#endif
    }
#if buffers > 1
    copies_end();
#endif
}

extern "C" __global__ void __launch_bounds__(threads)
    direct(long long nodes, const float4 *node, long long ny, const float *qy, long long nz, const float *qz, const float *loss,
           float qx, float *out) {
    __shared__ float4 held[buffers][2 * tile];
    const int thread = threadIdx.y * dim_y + threadIdx.x;
    const long long size = ny * nz;
    const int tiles = (int)(nodes / tile);
    for (long long z0 = (long long)blockIdx.y * block_z; z0 < nz; z0 += (long long)gridDim.y * block_z)
        for (long long y0 = (long long)blockIdx.x * block_y; y0 < ny; y0 += (long long)gridDim.x * block_y) {
            float y[per_y], z[per_z], d[per_z];
#pragma unroll
            for (int j = 0; j < per_y; j++) {
                const long long at = y0 + threadIdx.x + j * dim_y;
                y[j] = at < ny ? qy[at] : 0.0f;
            }
#pragma unroll
            for (int k = 0; k < per_z; k++) {
                const long long at = z0 + threadIdx.y + k * dim_z;
                z[k] = at < nz ? qz[at] : 0.0f;
                d[k] = damped && at < nz ? loss[at] : 0.0f;
            }
            for (int begin = 0; begin < tiles; begin += h_t / tile) {
                const int end = min(tiles, begin + h_t / tile);
                float sum[per_y][per_z][4];
#pragma unroll
                for (int j = 0; j < per_y; j++)
#pragma unroll
                    for (int k = 0; k < per_z; k++)
#pragma unroll
                        for (int m = 0; m < 4; m++) sum[j][k][m] = 0.0f;
                __syncthreads();
#if buffers > 1
                for (int b = 0; b < buffers - 1; b++) {
                    if (begin + b < end)
                        fetch(held[b], node + (long long)(begin + b) * 2 * tile, thread);
                    else
                        copies_end();
                }
#endif
                for (int t = begin; t < end; t++) {
#if buffers > 1
                    copies_wait<buffers - 2>();
                    __syncthreads();
                    const int next = t + buffers - 1;
                    if (next < end)
                        fetch(held[(next - begin) % buffers], node + (long long)next * 2 * tile, thread);
                    else
                        copies_end();
#else
                    __syncthreads();
                    fetch(held[0], node + (long long)t * 2 * tile, thread);
                    __syncthreads();
#endif
                    const float4 *at = held[(t - begin) % buffers];
#pragma unroll steps
                    for (int i = 0; i < tile; i++) {
                        const float4 a = at[2 * i], b = at[2 * i + 1];
                        float size_k[per_z], phase_k[per_z];
#pragma unroll
                        for (int k = 0; k < per_z; k++) {
                            phase_k[k] = z[k] * a.z;
                            size_k[k] = damped ? exp2f(d[k] * a.z) : 1.0f;
                        }
#pragma unroll
                        for (int j = 0; j < per_y; j++) {
                            const float along = __fmaf_rn(qx, a.x, y[j] * a.y);
                            const float w = __fmaf_rn(qx, a.w, y[j] * b.x);
#pragma unroll
                            for (int k = 0; k < per_z; k++) {
                                float s, c;
                                const float p = along + phase_k[k];
                                if (sine == 0 || j * per_z + k < by_hand)
                                    by_polynomial(p, &s, &c);
                                else
                                    by_hardware<sine == 2>(p, &s, &c);
                                const float w1 = damped ? w * size_k[k] : w;
                                const float w2 = damped ? b.y * size_k[k] : b.y;
                                sum[j][k][0] = __fmaf_rn(w1, c, sum[j][k][0]);
                                sum[j][k][1] = __fmaf_rn(w1, s, sum[j][k][1]);
                                sum[j][k][2] = __fmaf_rn(w2, c, sum[j][k][2]);
                                sum[j][k][3] = __fmaf_rn(w2, s, sum[j][k][3]);
                            }
                        }
                    }
                }
#pragma unroll
                for (int j = 0; j < per_y; j++)
#pragma unroll
                    for (int k = 0; k < per_z; k++) {
                        const long long at_y = y0 + threadIdx.x + j * dim_y, at_z = z0 + threadIdx.y + k * dim_z;
                        if (at_y >= ny || at_z >= nz) continue;
                        float *to = out + at_z * ny + at_y;
#pragma unroll
                        for (int m = 0; m < 4; m++) to[m * size] = (begin ? to[m * size] : 0.0f) + sum[j][k][m];
                    }
            }
        }
}
