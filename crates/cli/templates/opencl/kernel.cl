// B = transpose of A, n x n, through a tile in local memory, so that rows are read and written whole. n and the parameters
// are macros.
__kernel void transpose(__global float *restrict b, __global const float *restrict a) {
    __local float part[tile][tile + padding];
    const int row = get_group_id(1) * tile, column = get_group_id(0) * tile;
    for (int i = get_local_id(1); i < tile; i += block_y)
        for (int j = get_local_id(0); j < tile; j += block_x)
            if (row + i < n && column + j < n)
                part[i][j] = a[(long)(row + i) * n + column + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = get_local_id(1); j < tile; j += block_y)
        for (int i = get_local_id(0); i < tile; i += block_x)
            if (row + i < n && column + j < n)
                b[(long)(column + j) * n + row + i] = part[i][j];
}
