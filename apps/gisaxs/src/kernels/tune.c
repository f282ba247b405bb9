// The direct kernel as the tuner runs it: hyperblocks of h_y x h_z points and h_t nodes, over nthreads threads.

#include "pin.h"

#include <stdlib.h>
#include <string.h>

enum { is_damped = damped };
#undef damped
#define ISA tuned
#define VBYTES vector_bytes
#include "direct.c"

void tuned_sums(int64_t nodes, const float *node, int64_t ny, const float *qy, int64_t nz, const float *qz,
                const float *loss, float qx, float *out) {
    const long wide = 4 * LANES, most = ((long)h_y * h_z + wide - 1) / wide * wide;
    real *own = malloc(sizeof(real) * 8 * nodes);
    for (long i = 0; i < 8 * nodes; i++) own[i] = node[i];
    const long blocks_y = (ny + h_y - 1) / h_y, blocks_z = (nz + h_z - 1) / h_z;
#pragma omp parallel num_threads(nthreads)
    {
        pin_thread(PIN, omp_get_thread_num(), nthreads);
        real *q = malloc(sizeof(real) * 4 * most);
        double *sum = malloc(sizeof(double) * 6 * most);
#pragma omp for schedule(dynamic) collapse(2)
        for (long bz = 0; bz < blocks_z; bz++)
            for (long by = 0; by < blocks_y; by++) {
                const long y0 = by * h_y, z0 = bz * h_z;
                const long my = ny - y0 < h_y ? ny - y0 : h_y, mz = nz - z0 < h_z ? nz - z0 : h_z;
                const long count = my * mz, padded = (count + wide - 1) / wide * wide;
                memset(q, 0, sizeof(real) * 4 * most);
                for (long k = 0; k < mz; k++)
                    for (long j = 0; j < my; j++) {
                        const long at = k * my + j;
                        q[at] = qx;
                        q[padded + at] = qy[y0 + j];
                        q[2 * padded + at] = qz[z0 + k];
                        q[3 * padded + at] = loss[z0 + k];
                    }
                memset(sum, 0, sizeof(double) * 6 * most);
                for (long t = 0; t < nodes; t += h_t) {
                    const long n = nodes - t < h_t ? nodes - t : h_t;
                    NAME(direct, ISA, BITS)(padded, q, q + padded, q + 2 * padded, q + 3 * padded, n, own + 8 * t, sum,
                                            padded, is_damped, 0, per_lane);
                }
                for (long k = 0; k < mz; k++)
                    for (long j = 0; j < my; j++) {
                        const long at = k * my + j, to = (z0 + k) * ny + y0 + j;
                        const double x = qx, y = qy[y0 + j];
                        for (int c = 0; c < 2; c++) {
                            out[c * ny * nz + to] = (float)(x * sum[c * padded + at] + y * sum[(2 + c) * padded + at]);
                            out[(2 + c) * ny * nz + to] = (float)sum[(4 + c) * padded + at];
                        }
                    }
            }
        free(q);
        free(sum);
    }
    free(own);
}
