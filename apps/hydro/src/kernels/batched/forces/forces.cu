// F = A Bᵀ: `zones` matrices A of rows x inner, one B of columns x inner, all column-major. Parameters:
// VERSION 1 straightforward: a block has a zone, a thread has elements of F one after the other
//         2 a part of A is brought to shared memory, a thread has TN elements of a row (the paper has B in constant memory;
//           here all threads of a warp read the same element of B through the cache)
//         3 lanes along the rows of all zones: a thread has TM rows x TN columns in registers, a part of B is in shared memory
//         4 for few rows, lanes along F as it is stored: a thread has TN elements of TM zones, A is in shared memory
// THREADS of a block, BLK columns of A and B that are in shared memory at once, UNROLL columns whose reads are under way at once
#ifdef GREENUP_SHIM
#define SHARED(name) double *name = (double *)greenup_shared()
#else
#define SHARED(name) extern __shared__ __align__(16) double name[]
#endif
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
    SHARED(part);
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
    SHARED(part);
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
#else
    SHARED(part);
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
#endif
}
