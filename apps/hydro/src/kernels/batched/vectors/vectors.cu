// y = F x or Fᵀ x: `zones` matrices F of rows x columns, column-major. Parameters:
// VERSION 1 straightforward: a block has a zone, a thread has elements of y one after the other
//         2 number 8: a thread has TM rows of all zones, UNROLL columns are read at once; number 10: LANES lanes share the sums
//           of TM columns, UNROLL rows a lane are read at once
// THREADS of a block
extern "C" __global__ void __launch_bounds__(THREADS)
    vectors(const double *__restrict__ f, const double *__restrict__ x, double *__restrict__ y) {
    const int t = threadIdx.x;
#if VERSION == 1
    const long long z = blockIdx.x;
    f += z * rows * columns;
#if number == 8
    for (int i = t; i < rows; i += THREADS) {
        double sum = 0;
#pragma unroll 8
        for (int j = 0; j < columns; j++) sum = fma(f[i + j * rows], x[z * columns + j], sum);
        y[z * rows + i] = sum;
    }
#else
    for (int j = t; j < columns; j += THREADS) {
        double sum = 0;
#pragma unroll 8
        for (int i = 0; i < rows; i++) sum = fma(f[i + j * rows], x[z * rows + i], sum);
        y[z * columns + j] = sum;
    }
#endif
#elif number == 8
    const double *of[TM], *with[TM];
    long long row[TM];
    double sum[TM];
#pragma unroll
    for (int m = 0; m < TM; m++) {
        row[m] = ((long long)blockIdx.x * TM + m) * THREADS + t;
        // Rows behind the last are those of the last, and are not stored.
        const long long known = row[m] < (long long)zones * rows ? row[m] : (long long)zones * rows - 1;
        of[m] = f + known / rows * (rows * columns) + known % rows;
        with[m] = x + known / rows * columns;
        sum[m] = 0;
    }
#pragma unroll 1
    for (int j = 0; j < columns; j += UNROLL) {
        double v[UNROLL][TM];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int m = 0; m < TM; m++) v[u][m] = of[m][(j + u) * rows];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int m = 0; m < TM; m++) sum[m] = fma(v[u][m], with[m][j + u], sum[m]);
    }
#pragma unroll
    for (int m = 0; m < TM; m++)
        if (row[m] < (long long)zones * rows) y[row[m]] = sum[m];
#else
    const int lane = t % LANES;
    const long long first = ((long long)blockIdx.x * (THREADS / LANES) + t / LANES) * TM, all = (long long)zones * columns;
    // Columns behind the last are those at the start, and are not stored.
    const long long known = first < all ? first : 0;
    f += known * rows, x += known / columns * rows;
    double sum[TM];
#pragma unroll
    for (int m = 0; m < TM; m++) sum[m] = 0;
#pragma unroll 1
    for (int i = lane; i < rows; i += LANES * UNROLL) {
        double v[UNROLL][TM], w[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            const bool there = i + u * LANES < rows;
            w[u] = there ? x[i + u * LANES] : 0;
#pragma unroll
            for (int m = 0; m < TM; m++) v[u][m] = there ? f[m * rows + i + u * LANES] : 0;
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int m = 0; m < TM; m++) sum[m] = fma(v[u][m], w[u], sum[m]);
    }
#pragma unroll
    for (int m = 0; m < TM; m++) {
#pragma unroll
        for (int d = LANES / 2; d > 0; d /= 2) sum[m] += __shfl_xor_sync(~0u, sum[m], d);
        if (lane == m % LANES && first < all) y[first + m] = sum[m];
    }
#endif
}
