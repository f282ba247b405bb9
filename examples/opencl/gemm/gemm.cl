// C = A B, n x n, by rows. A work-group computes a tile of C of tile_m x tile_n; its block_m x block_n work-items compute
// vectors of `width` columns of it. Tiles of A and B go through local memory if use_local is set.
#include "vectors.h"

#define ROWS (tile_m / block_m)
#define COLUMNS (tile_n / (block_n * width))

__kernel void gemm(__global float *restrict c, __global const float *restrict a, __global const float *restrict b) {
    const int x = get_local_id(0), y = get_local_id(1);
    const int row = get_group_id(1) * tile_m, column = get_group_id(0) * tile_n;
    vec sum[ROWS][COLUMNS];
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < COLUMNS; j++)
            sum[r][j] = (vec)(0.0f);
#if use_local
    __local float part_a[tile_m * tile_k], part_b[tile_k * tile_n];
#define A(i, k) part_a[(i) * tile_k + (k)]
#define B(k, j) part_b + (k) * tile_n + (j)
#else
#define A(i, k) a[(row + (i)) * n + k0 + (k)]
#define B(k, j) b + (k0 + (k)) * n + column + (j)
#endif
    for (int k0 = 0; k0 < n; k0 += tile_k) {
#if use_local
        for (int i = y * block_n + x; i < tile_m * tile_k; i += block_m * block_n)
            part_a[i] = a[(row + i / tile_k) * n + k0 + i % tile_k];
        for (int i = y * block_n + x; i < tile_k * tile_n; i += block_m * block_n)
            part_b[i] = b[(k0 + i / tile_n) * n + column + i % tile_n];
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int k = 0; k < tile_k; k++)
            for (int j = 0; j < COLUMNS; j++) {
                const vec of_b = LOAD(B(k, (j * block_n + x) * width));
                for (int r = 0; r < ROWS; r++)
                    sum[r][j] += A(y + r * block_m, k) * of_b;
            }
#if use_local
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < COLUMNS; j++)
            STORE(sum[r][j], c + (row + y + r * block_m) * n + column + (j * block_n + x) * width);
}
