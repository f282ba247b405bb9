// B = transpose of A, n x n, through a tile in shared memory, so that rows are read and written whole. n and the parameters
// are macros.
extern "C" __global__ void transpose(float *__restrict__ b, const float *__restrict__ a) {
    __shared__ float part[tile][tile + padding];
    const int row = blockIdx.y * tile, column = blockIdx.x * tile;
    for (int i = threadIdx.y; i < tile; i += block_y)
        for (int j = threadIdx.x; j < tile; j += block_x)
            if (row + i < n && column + j < n)
                part[i][j] = a[(long long)(row + i) * n + column + j];
    __syncthreads();
    for (int j = threadIdx.y; j < tile; j += block_y)
        for (int i = threadIdx.x; i < tile; i += block_x)
            if (row + i < n && column + j < n)
                b[(long long)(column + j) * n + row + i] = part[i][j];
}
