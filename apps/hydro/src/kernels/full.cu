// The operator with stored corner forces: F_z = A_z B^T [zone][component local][energy], as a batch of small products of
// matrices, and its products with 1 and with velocities. BLAST's kernels 7, 8 and 10.
extern "C" {

// A block takes PIECE nodes of a zone, as many as its threads have registers for; A_z is made of stored stresses in shared
// memory, MATRIX_POINTS points at a time.
__global__ void __launch_bounds__(MATRIX_THREADS) corner_matrix(long long zones, const double *stress_in, double *corner) {
    __shared__ double a[MATRIX_POINTS][D * PIECE + 1], b[MATRIX_POINTS][ENERGIES + 1];
    const int rows = D * PIECE, pieces = (LOCAL + PIECE - 1) / PIECE;
    const int tiles_e = (ENERGIES + TILE_E - 1) / TILE_E, tiles = (rows + TILE_R - 1) / TILE_R * tiles_e;
    for (long long work = blockIdx.x; work < zones * pieces; work += gridDim.x) {
        const long long z = work / pieces;
        const int first = (int)(work % pieces) * PIECE, own = LOCAL - first < PIECE ? LOCAL - first : PIECE;
        double sum[TILES_EACH][TILE_R][TILE_E] = {};
        for (int p = 0; p < POINTS; p += MATRIX_POINTS) {
            const int count = POINTS - p < MATRIX_POINTS ? POINTS - p : MATRIX_POINTS;
            for (int n = threadIdx.x; n < count * own; n += blockDim.x) {
                const int q = p + n % count, i = first + n / count;
                double gradient[D];
                // Slopes of a basis function at a point from its factors.
                const int at[3] = {q % Q, q / Q % Q, q / (Q * Q)}, node[3] = {i % N, i / N % N, i / (N * N)};
#pragma unroll
                for (int g = 0; g < D; g++) {
                    double w = 1;
#pragma unroll
                    for (int d = 0; d < D; d++)
                        w *= d == g ? slope_table[at[d] * N + node[d]] : value_table[at[d] * N + node[d]];
                    gradient[g] = w;
                }
#pragma unroll
                for (int c = 0; c < D; c++) {
                    double s = 0;
#pragma unroll
                    for (int g = 0; g < D; g++)
                        s = fma(stress_in[((z * D + c) * D + g) * POINTS + q], gradient[g], s);
                    a[n % count][c * PIECE + i - first] = s;
                }
            }
            for (int n = threadIdx.x; n < count * ENERGIES; n += blockDim.x) {
                const int q = p + n / ENERGIES, i = n % ENERGIES;
                double w = energy_table[q % Q * E + i % E];
                if (D > 1) w *= energy_table[q / Q % Q * E + i / E % E];
                if (D > 2) w *= energy_table[q / (Q * Q) * E + i / (E * E)];
                b[n / ENERGIES][i] = w;
            }
            __syncthreads();
#pragma unroll
            for (int t = 0; t < TILES_EACH; t++) {
                const int tile = threadIdx.x + t * MATRIX_THREADS;
                if (tile >= tiles) break;
                const int row = tile / tiles_e * TILE_R, column = tile % tiles_e * TILE_E;
                for (int k = 0; k < count; k++) {
                    double left[TILE_R], up[TILE_E];
#pragma unroll
                    for (int i = 0; i < TILE_R; i++) left[i] = row + i < rows ? a[k][row + i] : 0;
#pragma unroll
                    for (int j = 0; j < TILE_E; j++) up[j] = column + j < ENERGIES ? b[k][column + j] : 0;
#pragma unroll
                    for (int i = 0; i < TILE_R; i++)
#pragma unroll
                        for (int j = 0; j < TILE_E; j++) sum[t][i][j] = fma(left[i], up[j], sum[t][i][j]);
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int t = 0; t < TILES_EACH; t++) {
            const int tile = threadIdx.x + t * MATRIX_THREADS;
            if (tile >= tiles) break;
            const int row = tile / tiles_e * TILE_R, column = tile % tiles_e * TILE_E;
            for (int i = 0; i < TILE_R; i++)
                for (int j = 0; j < TILE_E; j++) {
                    const int c = (row + i) / PIECE, node = (row + i) % PIECE;
                    if (row + i < rows && node < own && column + j < ENERGIES)
                        corner[((z * D + c) * LOCAL + first + node) * ENERGIES + column + j] = sum[t][i][j];
                }
        }
    }
}

// Minus F times 1, [zone][local][component].
__global__ void corner_ones(long long zones, const double *corner, double *own) {
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < zones * D * LOCAL;
         n += (long long)gridDim.x * blockDim.x) {
        const int i = (int)(n % LOCAL), c = (int)(n / LOCAL % D);
        double sum = 0;
        for (int j = 0; j < ENERGIES; j++) sum += corner[n * ENERGIES + j];
        own[(n / (D * LOCAL) * LOCAL + i) * D + c] = -sum;
    }
}

// F^T v, and the source at the points where there is one.
__global__ void corner_transposed(rules r, long long zones, long long nodes, const unsigned *index, const double *u,
                                  const double *corner, const double *source, double *right) {
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < zones * ENERGIES;
         n += (long long)gridDim.x * blockDim.x) {
        const long long z = n / ENERGIES;
        const int j = (int)(n % ENERGIES);
        double sum = 0;
        for (int c = 0; c < D; c++)
            for (int i = 0; i < LOCAL; i++)
                sum = fma(corner[((z * D + c) * LOCAL + i) * ENERGIES + j], u[c * nodes + index[z * LOCAL + i]], sum);
#if D == 2
        if (r.source)
            for (int q = 0; q < POINTS; q++)
                sum = fma(energy_table[q % Q * E + j % E] * energy_table[q / Q * E + j / E], source[z * POINTS + q], sum);
#endif
        right[n] = sum;
    }
}
}
