// F on the rows of a detector by the nonuniform FFT: sums over the cells of a small grid (spread in grid.cu, one
// grid for each Chebyshev node in q_x) are made at nodes of q_y, turned into coefficients in q_x, summed in z for each q_z,
// and read between the nodes at each pixel. All in double precision; sums of s_x, s_y and s_z, m = 0, 1, 2.

__device__ __forceinline__ void add(double2 &to, double2 a, double2 b) {
    to.x += a.x * b.x - a.y * b.y;
    to.y += a.x * b.y + a.y * b.x;
}

// values[k][n][m][g] = sum over the cells i in y of wave[n][i] grid[k][i][m][g]; the grid is in multiples of unit.
extern "C" __global__ void across(long long terms, long long count, long long down, long long cells, const long long *grid,
                                  double unit, const double2 *wave, double2 *values) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x, line = 3 * cells;
    if (at >= terms * count * line) return;
    const long long g = at % line, n = at / line % count, k = at / line / count;
    double2 sum = make_double2(0, 0);
    for (long long i = 0; i < down; i++) {
        const long long *c = grid + 2 * ((k * down + i) * line + g);
        add(sum, wave[n * down + i], make_double2(unit * (double)c[0], unit * (double)c[1]));
    }
    values[at] = sum;
}

// coefficients[g][j][n][m] = sum over k of weight[j][k] values[k][n][m][g].
extern "C" __global__ void coefficients(long long terms, long long count, long long cells, const double *weight,
                                        const double2 *values, double2 *out) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= terms * count * 3 * cells) return;
    const long long m = at % 3, n = at / 3 % count, j = at / 3 / count % terms, g = at / 3 / count / terms;
    double2 sum = make_double2(0, 0);
    for (long long k = 0; k < terms; k++) {
        const double2 v = values[((k * count + n) * 3 + m) * cells + g];
        sum.x += weight[j * terms + k] * v.x;
        sum.y += weight[j * terms + k] * v.y;
    }
    out[at] = sum;
}

// table[h][j][n][m] = sum over the cells g in z of wave[h][g] coefficients[g][j][n][m].
extern "C" __global__ void heights(long long line, long long cells, const double2 *coefficients, const double2 *wave,
                                   double2 *table) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x, h = blockIdx.y;
    if (at >= line) return;
    double2 sum = make_double2(0, 0);
    for (long long g = 0; g < cells; g++) add(sum, wave[h * cells + g], coefficients[g * line + at]);
    table[h * line + at] = sum;
}

// Rows of a detector: where their positions, heights and values begin, and how many there are.
struct Row {
    long long position, positions, height, heights, out;
};

// F at each position and height of each row: between nodes first + n step of q_y by the window, by Chebyshev's polynomials of
// (q_x - center) / half. wave holds e^{i q_z c_z} already; the rest of the shift is added here.
extern "C" __global__ void read(const Row *row, const double2 *position, const double2 *qz, long long terms, long long count,
                                double center, double half, double first, double step, int width, double beta,
                                double shift_x, double shift_y, const double2 *table, double2 *out) {
    const Row r = row[blockIdx.z];
    const long long p = blockIdx.x * (long long)blockDim.x + threadIdx.x, k = blockIdx.y;
    if (p >= r.positions || k >= r.heights) return;
    const double2 q = position[r.position + p], z = qz[r.height + k];
    const double y = (q.y - first) / step, x = (q.x - center) / half;
    const long long begin = (long long)ceil(y - 0.5 * width);
    double wy[16];
    for (int j = 0; j < width; j++) {
        const double t = 2 * (begin + j - y) / width, u = 1 - t * t;
        wy[j] = u > 0 ? exp(beta * (sqrt(u) - 1)) : 0;
    }
    const double2 *at = table + (r.height + k) * terms * count * 3 + begin * 3;
    double2 sum[3] = {{0, 0}, {0, 0}, {0, 0}};
    double now = 1, before = x;
    for (long long j = 0; j < terms; j++) {
        for (int i = 0; i < width; i++) {
            const double c = now * wy[i];
            for (int m = 0; m < 3; m++) {
                const double2 v = at[3 * i + m];
                sum[m].x += c * v.x;
                sum[m].y += c * v.y;
            }
        }
        at += count * 3;
        // T_{j+1} = 2 x T_j - T_{j-1}, T_{-1} = T_1.
        const double next = 2 * x * now - before;
        before = now;
        now = next;
    }
    double s, c;
    sincos(q.x * shift_x + q.y * shift_y, &s, &c);
    const double a = q.x * sum[0].x + q.y * sum[1].x + z.x * sum[2].x + z.y * sum[2].y;
    const double b = q.x * sum[0].y + q.y * sum[1].y + z.x * sum[2].y - z.y * sum[2].x;
    const double norm = q.x * q.x + q.y * q.y + z.x * z.x + z.y * z.y, fr = b / norm, fi = -a / norm;
    out[r.out + k * r.positions + p] = make_double2(fr * c - fi * s, fr * s + fi * c);
}
