// out = the (size x size) filter over an image with a border of size / 2. A work-item computes per_y x per_x outputs, a
// block apart, from global memory or from a part of the image that its work-group copies into local memory.
#define PART_X (block_x * per_x + size - 1)
#define PART_Y (block_y * per_y + size - 1)
#define PITCH (n + size - 1)

__kernel void convolution(__global float *restrict out, __global const float *restrict image,
                          __constant float *restrict filter) {
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_group_id(0) * block_x * per_x, row = get_group_id(1) * block_y * per_y;
#if use_local
    __local float part[PART_Y * PART_X];
    for (int i = y; i < PART_Y; i += block_y)
        for (int j = x; j < PART_X; j += block_x)
            if (row + i < PITCH && column + j < PITCH)
                part[i * PART_X + j] = image[(row + i) * PITCH + column + j];
    barrier(CLK_LOCAL_MEM_FENCE);
#define AT(i, j) part[(i) * PART_X + (j)]
#else
#define AT(i, j) image[min(row + (i), PITCH - 1) * PITCH + min(column + (j), PITCH - 1)]
#endif
    float sum[per_y][per_x];
    for (int i = 0; i < per_y; i++)
        for (int j = 0; j < per_x; j++)
            sum[i][j] = 0;
    for (int fy = 0; fy < size; fy++)
        for (int fx = 0; fx < size; fx++) {
            const float f = filter[fy * size + fx];
            for (int i = 0; i < per_y; i++)
                for (int j = 0; j < per_x; j++)
                    sum[i][j] += f * AT(y + i * block_y + fy, x + j * block_x + fx);
        }
    for (int i = 0; i < per_y; i++)
        for (int j = 0; j < per_x; j++) {
            const int oy = row + y + i * block_y, ox = column + x + j * block_x;
            if (oy < n && ox < n)
                out[oy * n + ox] = sum[i][j];
        }
}
