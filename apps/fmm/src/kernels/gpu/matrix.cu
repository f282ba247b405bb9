// y_j (+)= A x_j for boxes j: 64 rows by 64 boxes per block, 4 by 4 per thread.
#define SIDE 64
#define DEPTH 16

// A row by row. x_j begins at x + x_boxes[j] * x_stride, y_j at y + y_boxes[j] * y_stride.
extern "C" __global__ void __launch_bounds__(256) apply(Apply a) {
    const int rows = a.rows, depth = a.depth, count = a.count;
    __shared__ real left[DEPTH][SIDE + 4], right[DEPTH][SIDE + 4];
    const int row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
    const int tr = threadIdx.x / 16 * 4, tc = threadIdx.x % 16 * 4;
    real sum[4][4] = {{0}};
    for (int from = 0; from < depth; from += DEPTH) {
        __syncthreads();
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += 256) {
            const int k = i % DEPTH, r = i / DEPTH;
            const bool deep = from + k < depth;
            left[k][r] = deep && row + r < rows ? a.matrix[(long long)(row + r) * depth + from + k] : 0;
            right[k][r] = deep && column + r < count ? a.x[(long long)a.x_boxes[column + r] * a.x_stride + from + k] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            real l[4], r[4];
#pragma unroll
            for (int i = 0; i < 4; i++) l[i] = left[k][tr + i], r[i] = right[k][tc + i];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += l[i] * r[j];
        }
    }
    for (int j = 0; j < 4 && column + tc + j < count; j++) {
        real *to = a.y + (long long)a.y_boxes[column + tc + j] * a.y_stride + row + tr;
        for (int i = 0; i < 4 && row + tr + i < rows; i++) to[i] = a.add ? to[i] + sum[i][j] : sum[i][j];
    }
}
