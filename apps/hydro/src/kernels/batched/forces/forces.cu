// F = A Bᵀ: `zones` matrices A of rows x inner, one B of columns x inner, all column-major. Parameters:
// VERSION 1 straightforward: a block has a zone, a thread has elements of F one after the other
//         2 a part of A is brought to shared memory, a thread has TN elements of a row (the paper has B in constant memory;
//           here all threads of a warp read the same element of B through the cache)
//         3 lanes along the rows of all zones: a thread has TM rows x TN columns in registers, a part of B is in shared memory
//         4 for few rows, lanes along F as it is stored: a thread has TN elements of TM zones, A is in shared memory
//         5 products of 16 rows x 8 columns on tensor cores: a warp has TM x TN of them, UNROLL elements of a row at once; parts
//           of B arrive while others are multiplied
// THREADS of a block, BLK columns of A and B that are in shared memory at once, UNROLL columns whose reads are under way at once
#include "../../../../../../crates/gemm/src/kernels/gpu/device.cuh"
#define GIVEN const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ f

extern "C" __global__ void __launch_bounds__(THREADS) forces(GIVEN) {
    const int t = threadIdx.x;
#if VERSION == 1
    const long long z = blockIdx.x;
    a += z * rows * inner, f += z * rows * columns;
    for (int e = t; e < rows * columns; e += THREADS) {
        const int i = e % rows, j = e / rows;
        double sum = 0;
        for (int k = 0; k < inner; k++) sum = fma(a[i + k * rows], b[j + k * columns], sum);
        f[e] = sum;
    }
#elif VERSION == 2
    SHARED_BYTES(memory);
    double *part = (double *)memory;
    const long long z = blockIdx.x;
    a += z * rows * inner, f += z * rows * columns;
    for (int j = 0; j < columns; j += TN)
        for (int top = 0; top < rows; top += THREADS) {
            double sum[TN];
#pragma unroll
            for (int n = 0; n < TN; n++) sum[n] = 0;
            const int height = rows - top < THREADS ? rows - top : THREADS;
            for (int from = 0; from < inner; from += BLK) {
                __syncthreads();
                for (int e = t; e < height * BLK; e += THREADS)
                    part[e] = a[top + e % height + (from + e / height) * rows];
                __syncthreads();
                if (t < height)
#pragma unroll
                    for (int k = 0; k < BLK; k++)
#pragma unroll
                        for (int n = 0; n < TN; n++)
                            sum[n] = fma(part[t + k * height], b[j + n + (from + k) * columns], sum[n]);
            }
            if (t < height)
#pragma unroll
                for (int n = 0; n < TN; n++) f[top + t + (j + n) * rows] = sum[n];
        }
#elif VERSION == 3
    SHARED_BYTES(memory);
    double *part = (double *)memory;
    // Threads of a group have the same columns.
    enum { ACROSS = THREADS / groups };
    const int lane = t % ACROSS, left = t / ACROSS * TN;
    const double *of[TM];
    long long row[TM];
#pragma unroll
    for (int m = 0; m < TM; m++) {
        row[m] = (long long)blockIdx.x * block_rows + m * ACROSS + lane;
        // Rows behind the last are those of the last, and are not stored.
        const long long known = row[m] < (long long)zones * rows ? row[m] : (long long)zones * rows - 1;
        of[m] = a + known / rows * (rows * inner) + known % rows;
    }
    double sum[TM][TN];
#pragma unroll
    for (int m = 0; m < TM; m++)
#pragma unroll
        for (int n = 0; n < TN; n++) sum[m][n] = 0;
    for (int from = 0; from < inner; from += BLK) {
        __syncthreads();
        for (int e = t; e < BLK * columns; e += THREADS) part[e] = b[from * columns + e];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < BLK; k += UNROLL) {
            double v[UNROLL][TM];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
#pragma unroll
                for (int m = 0; m < TM; m++) v[u][m] = of[m][(from + k + u) * rows];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
#pragma unroll
                for (int n = 0; n < TN; n++) {
                    const double w = part[(k + u) * columns + left + n];
#pragma unroll
                    for (int m = 0; m < TM; m++) sum[m][n] = fma(v[u][m], w, sum[m][n]);
                }
        }
    }
#pragma unroll
    for (int m = 0; m < TM; m++)
        if (row[m] < (long long)zones * rows) {
            double *to = f + row[m] / rows * (rows * columns) + row[m] % rows + (long long)left * rows;
#pragma unroll
            for (int n = 0; n < TN; n++) to[n * rows] = sum[m][n];
        }
#elif VERSION == 4
    SHARED_BYTES(memory);
    double *part = (double *)memory;
    const long long z = (long long)blockIdx.x * TM;
    // A of all zones of the block, zones side by side.
    for (int e = t; e < TM * rows * inner; e += THREADS) {
        const int m = e / (rows * inner), at = e % (rows * inner);
        part[at * TM + m] = z + m < zones ? a[z * (rows * inner) + e] : 0;
    }
    __syncthreads();
    const int i = t % rows;
    for (int first = t; first < rows * columns; first += TN * THREADS) {
        double sum[TN][TM];
        int column[TN];
#pragma unroll
        for (int n = 0; n < TN; n++) {
            const int e = first + n * THREADS;
            column[n] = e < rows * columns ? e / rows : 0;
#pragma unroll
            for (int m = 0; m < TM; m++) sum[n][m] = 0;
        }
#pragma unroll 1
        for (int k = 0; k < inner; k += UNROLL) {
            double w[UNROLL][TN];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
#pragma unroll
                for (int n = 0; n < TN; n++) w[u][n] = b[column[n] + (k + u) * columns];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
#pragma unroll
                for (int m = 0; m < TM; m++) {
                    const double v = part[((k + u) * rows + i) * TM + m];
#pragma unroll
                    for (int n = 0; n < TN; n++) sum[n][m] = fma(v, w[u][n], sum[n][m]);
                }
        }
#pragma unroll
        for (int m = 0; m < TM; m++)
#pragma unroll
            for (int n = 0; n < TN; n++) {
                const int e = first + n * THREADS;
                if (e < rows * columns && z + m < zones) f[(z + m) * (rows * columns) + e] = sum[n][m];
            }
    }
#else
    SHARED_BYTES(memory);
    // Lines of B are so long that lanes read from different banks.
    enum { LINE = columns + 4, ACROSS = THREADS / 32 / groups, PAIRS = columns / 2 };
    const int warp = t / 32, g = t % 32 / 4, q = t % 4, left = warp / ACROSS * (8 * TN);
    const long long first = ((long long)blockIdx.x * ACROSS + warp % ACROSS) * (16 * TM) + g, all = (long long)zones * rows;
    const double *of[2 * TM];
#pragma unroll
    for (int h = 0; h < 2 * TM; h++) {
        // As in version 3.
        const long long known = first + 8 * h < all ? first + 8 * h : all - 1;
        of[h] = a + known / rows * (rows * inner) + known % rows + q * rows;
    }
    double sum[TM][TN][4];
#pragma unroll
    for (int m = 0; m < TM; m++)
#pragma unroll
        for (int n = 0; n < TN; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) sum[m][n][e] = 0;
    const auto bring = [&](int from) {
        double *to = (double *)memory + from / BLK % 2 * (BLK * LINE);
        for (int e = t; e < BLK * PAIRS; e += THREADS)
            copy_async<16>(to + e / PAIRS * LINE + e % PAIRS * 2, b + from * columns + 2 * e, 16);
    };
    const auto read = [&](double (&v)[TM][UNROLL / 2], int k) {
#pragma unroll
        for (int m = 0; m < TM; m++)
#pragma unroll
            for (int x = 0; x < UNROLL / 2; x++) v[m][x] = of[2 * m + x % 2][(k + x / 2 * 4) * rows];
    };
    double now[TM][UNROLL / 2], next[TM][UNROLL / 2];
    bring(0);
    commit();
    read(now, 0);
    for (int from = 0; from < inner; from += BLK) {
        if (from + BLK < inner) bring(from + BLK);
        commit();
        wait_but<1>();
        __syncthreads();
        const double *part = (double *)memory + from / BLK % 2 * (BLK * LINE) + left + g;
#pragma unroll 2
        for (int k = 0; k < BLK; k += UNROLL) {
            read(next, from + k + UNROLL < inner ? from + k + UNROLL : 0);
#pragma unroll
            for (int n = 0; n < TN; n++) {
                double w[UNROLL / 4];
#pragma unroll
                for (int x = 0; x < UNROLL / 4; x++) w[x] = part[(k + 4 * x + q) * LINE + 8 * n];
#pragma unroll
                for (int m = 0; m < TM; m++) multiply<UNROLL>(sum[m][n], now[m], w);
            }
#pragma unroll
            for (int m = 0; m < TM; m++)
#pragma unroll
                for (int x = 0; x < UNROLL / 2; x++) now[m][x] = next[m][x];
        }
        // The other part is written next.
        __syncthreads();
    }
#pragma unroll
    for (int h = 0; h < 2 * TM; h++) {
        const long long row = first + 8 * h;
        if (row < all) {
            double *to = f + row / rows * (rows * columns) + row % rows;
#pragma unroll
            for (int n = 0; n < TN; n++)
#pragma unroll
                for (int e = 0; e < 2; e++) to[(left + 8 * n + 2 * q + e) * rows] = sum[h / 2][n][h % 2 * 2 + e];
        }
    }
#endif
}
