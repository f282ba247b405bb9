// F on a tensor grid of q by products of factors: e^{iq.r} of nodes (the GEMM method), or of the cells of a small
// grid that nodes were spread over (the nonuniform FFT). BITS is 32 or 64: of the products.

#if BITS == 32
typedef float real;
typedef float2 pair;
#else
typedef double real;
typedef double2 pair;
#endif

__device__ __forceinline__ pair two(double re, double im) {
    pair p;
    p.x = (real)re;
    p.y = (real)im;
    return p;
}

// Row factors of nodes: (q_x s_x + q_y s_y) e^{i(q_x x + q_y y)} and s_z e^{...}, [node][q_y].
extern "C" __global__ void rows(long long nodes, const double *node, long long ny, const double *qy, double qx,
                                pair *first, pair *second) {
    const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x, t = blockIdx.y;
    if (j >= ny) return;
    for (long long k = t; k < nodes; k += gridDim.y) {
        const double *n = node + 6 * k;
        double s, c;
        sincospi((qx * n[0] + qy[j] * n[1]) * 0.31830988618379067154, &s, &c);
        const double w = qx * n[3] + qy[j] * n[4];
        first[k * ny + j] = two(w * c, w * s);
        second[k * ny + j] = two(n[5] * c, n[5] * s);
    }
}

// Column factors of nodes, e^{i q_z z}, [node][q_z].
extern "C" __global__ void columns(long long nodes, const double *node, long long nz, const double2 *qz, pair *out) {
    const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x, t = blockIdx.y;
    if (j >= nz) return;
    for (long long k = t; k < nodes; k += gridDim.y) {
        const double z = node[6 * k + 2], size = exp(-qz[j].y * z);
        double s, c;
        sincospi(qz[j].x * z * 0.31830988618379067154, &s, &c);
        out[k * nz + j] = two(size * c, size * s);
    }
}

// e^{beta (sqrt(1 - x^2) - 1)} over its width in cells.
__device__ __forceinline__ double window(double cells, double width, double beta) {
    const double x = 2 * cells / width, r = 1 - x * x;
    return r > 0 ? exp(beta * (sqrt(r) - 1)) : 0;
}

// Spreads each node's sums over width x width cells: grid[y][m][z][re, im], m = x, y, z. A thread has a row of one node.
// Cells are integers, multiples of 1 / scale, so that sums do not depend on the order of the threads.
extern "C" __global__ void spread(long long nodes, const double *node, double qx, double start_y, double step_y,
                                  double middle_y, double start_z, double step_z, double middle_z, int width,
                                  double beta, double scale, long long across, unsigned long long *grid) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, k = i / width;
    const int row = (int)(i % width);
    if (k >= nodes) return;
    const double *n = node + 6 * k;
    const double y = (n[1] - start_y) / step_y, z = (n[2] - start_z) / step_z;
    const double first_y = ceil(y - 0.5 * width), first_z = ceil(z - 0.5 * width);
    double s, c;
    sincospi((qx * n[0] + middle_y * n[1] + middle_z * n[2]) * 0.31830988618379067154, &s, &c);
    const double ky = scale * window(first_y + row - y, width, beta);
    unsigned long long *at = grid + 2 * (((long long)first_y + row) * 3 * across + (long long)first_z);
    for (int l = 0; l < width; l++) {
        const double k2 = ky * window(first_z + l - z, width, beta);
        for (int m = 0; m < 3; m++) {
            unsigned long long *to = at + 2 * (m * across + l);
            atomicAdd(to, (unsigned long long)llrint(k2 * n[3 + m] * c));
            atomicAdd(to + 1, (unsigned long long)llrint(k2 * n[3 + m] * s));
        }
    }
}

// e^{i(q - center) r} of each cell over the window's transform, and times e^{i q shift}: [cell][q].
// rule: positions in 0..1 and weighted values of the window.
extern "C" __global__ void waves(long long count, const double *q, int complex, double center, double start, double step, int width,
                                 int points, const double2 *rule, double shift, long long cells, double2 *wide,
                                 pair *narrow) {
    const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (j >= count) return;
    const double q_re = complex ? q[2 * j] : q[j], b = complex ? q[2 * j + 1] : 0, a = q_re - center, half = 0.5 * width * step;
    double re = 0, im = 0;
    for (int p = 0; p < points; p++) {
        const double x = a * rule[p].x * half, y = b * rule[p].x * half;
        re += rule[p].y * cos(x) * cosh(y);
        im -= rule[p].y * sin(x) * sinh(y);
    }
    // 1 / transform, e^{iq shift}
    const double norm = re * re + im * im, e = exp(-b * shift);
    double ss, sc;
    sincos(q_re * shift, &ss, &sc);
    const double fr = e * (sc * re + ss * im) / norm, fi = e * (ss * re - sc * im) / norm;
    for (long long g = blockIdx.y; g < cells; g += gridDim.y) {
        const double r = start + g * step, size = exp(-b * r);
        double s, c;
        sincos(a * r, &s, &c);
        const double x = size * (c * fr - s * fi), y = size * (c * fi + s * fr);
        if (wide) {
            wide[g * count + j].x = x;
            wide[g * count + j].y = y;
        } else {
            narrow[g * count + j] = two(x, y);
        }
    }
}

// Sums over the cells in y, in multiples of unit: row factors of the cells in z, [cell][q_y], with e^{i q_x shift}.
extern "C" __global__ void along(long long down, long long across, const long long *grid, double unit, long long ny, const double *qy,
                                 double qx, double shift, const double2 *wave, pair *first, pair *second) {
    const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x, g = blockIdx.y;
    if (j >= ny || g >= across) return;
    double sum[3][2] = {{0}};
    for (long long i = 0; i < down; i++) {
        const double2 w = wave[i * ny + j];
        for (int m = 0; m < 3; m++) {
            const long long *c = grid + 2 * ((i * 3 + m) * across + g);
            const double re = unit * (double)c[0], im = unit * (double)c[1];
            sum[m][0] += w.x * re - w.y * im;
            sum[m][1] += w.x * im + w.y * re;
        }
    }
    double s, c;
    sincos(qx * shift, &s, &c);
    const double re = qx * sum[0][0] + qy[j] * sum[1][0], im = qx * sum[0][1] + qy[j] * sum[1][1];
    first[g * ny + j] = two(c * re - s * im, c * im + s * re);
    second[g * ny + j] = two(c * sum[2][0] - s * sum[2][1], c * sum[2][1] + s * sum[2][0]);
}

// F = -i (S1 + conj(q_z) S2) e^{i(shift)} / |q|^2 with S = sum over k of rows[k][q_y] columns[k][q_z]; out [q_z][q_y].
// Blocks of 16 x 16 threads, 4 x 4 points each. What FLUSH terms give is added to sums, of which each thread has its
// own, so that single sums stay short; the next terms are on their way while these are multiplied.
#define SIDE 64
#define DEEP 4
#define FLUSH 1024
#define PARTS (DEEP * SIDE / 256)

struct Four {
    real s[4];
};

extern "C" __global__ void __launch_bounds__(256, BITS == 32 ? 2 : 1)
    product(long long count, long long ny, const pair *first, const pair *second, long long nz, const pair *column,
            const double *qy, const double2 *qz, double qx, double shift_x, double shift_y, double shift_z, Four *sums,
            pair *out) {
    __shared__ pair a1[2][DEEP][SIDE], a2[2][DEEP][SIDE], b[2][DEEP][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    const int y0 = blockIdx.x * SIDE, z0 = blockIdx.y * SIDE;
    const int c = thread % SIDE, r = thread / SIDE;
    const bool in_y = y0 + c < ny, in_z = z0 + c < nz;
    real sum[4][4][4];
#pragma unroll
    for (int i = 0; i < 64; i++) (&sum[0][0][0])[i] = 0;
    pair n1[PARTS], n2[PARTS], nb[PARTS];
    const long long from_y = r * ny + y0 + c;
    const pair *at_z = column + r * nz + z0 + c;
    first += from_y;
    second += from_y;
    auto fetch = [&](int k0) {
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            const bool there = k0 + r + p * (256 / SIDE) < (int)count;
            n1[p] = there && in_y ? *first : two(0, 0);
            n2[p] = there && in_y ? *second : two(0, 0);
            nb[p] = there && in_z ? *at_z : two(0, 0);
            first += 256 / SIDE * ny;
            second += 256 / SIDE * ny;
            at_z += 256 / SIDE * nz;
        }
    };
    auto keep = [&](int slot) {
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            const int k = r + p * (256 / SIDE);
            a1[slot][k][c] = n1[p];
            a2[slot][k][c] = n2[p];
            b[slot][k][c] = nb[p];
        }
    };
    bool flushed = false;
    auto flush = [&]() {
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const long long y = y0 + tx + 16 * i, z = z0 + ty + 16 * j;
                if (y >= ny || z >= nz) continue;
                Four *to = sums + z * ny + y;
                Four now;
#pragma unroll
                for (int m = 0; m < 4; m++) {
                    now.s[m] = sum[i][j][m] + (flushed ? to->s[m] : (real)0);
                    sum[i][j][m] = 0;
                }
                *to = now;
            }
        flushed = true;
    };
    fetch(0);
    keep(0);
    __syncthreads();
    int slot = 0;
    for (int k0 = 0; k0 < (int)count; k0 += DEEP) {
        const bool more = k0 + DEEP < (int)count;
        if (more) fetch(k0 + DEEP);
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            pair e[4];
#pragma unroll
            for (int j = 0; j < 4; j++) e[j] = b[slot][k][ty + 16 * j];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const pair u = a1[slot][k][tx + 16 * i], w = a2[slot][k][tx + 16 * i];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    real *s = sum[i][j];
                    s[0] += u.x * e[j].x;
                    s[0] -= u.y * e[j].y;
                    s[1] += u.x * e[j].y;
                    s[1] += u.y * e[j].x;
                    s[2] += w.x * e[j].x;
                    s[2] -= w.y * e[j].y;
                    s[3] += w.x * e[j].y;
                    s[3] += w.y * e[j].x;
                }
            }
        }
        slot ^= 1;
        if (more) keep(slot);
        __syncthreads();
        if (k0 % FLUSH == FLUSH - DEEP && more) flush();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const long long y = y0 + tx + 16 * i, z = z0 + ty + 16 * j;
            if (y >= ny || z >= nz) continue;
            double s[4];
#pragma unroll
            for (int m = 0; m < 4; m++) s[m] = (double)sum[i][j][m] + (flushed ? (double)sums[z * ny + y].s[m] : 0.0);
            const double2 q = qz[z];
            const double re = s[0] + q.x * s[2] + q.y * s[3], im = s[1] + q.x * s[3] - q.y * s[2];
            const double norm = qx * qx + qy[y] * qy[y] + q.x * q.x + q.y * q.y;
            double si = 0, co = 1;
            if (shift_x != 0 || shift_y != 0 || shift_z != 0) {
                sincos(qx * shift_x + qy[y] * shift_y + q.x * shift_z, &si, &co);
                const double size = exp(-q.y * shift_z);
                si *= size;
                co *= size;
            }
            // -i times.
            const double fr = im / norm, fi = -re / norm;
            out[z * ny + y] = two(fr * co - fi * si, fr * si + fi * co);
        }
}

// The same from the sums of direct.cu, [4][q_z][q_y].
extern "C" __global__ void finish(long long ny, const double *qy, long long nz, const double2 *qz, double qx,
                                  double shift_x, double shift_y, double shift_z, const float *sums, float2 *out) {
    const long long y = blockIdx.x * (long long)blockDim.x + threadIdx.x, z = blockIdx.y;
    if (y >= ny || z >= nz) return;
    const long long at = z * ny + y, size = ny * nz;
    // q in sums is in turns along the surface.
    const double turn = 6.283185307179586;
    const double2 q = qz[z];
    const double s0 = turn * sums[at], s1 = turn * sums[size + at], s2 = sums[2 * size + at], s3 = sums[3 * size + at];
    const double re = s0 + q.x * s2 + q.y * s3, im = s1 + q.x * s3 - q.y * s2;
    const double norm = qx * qx + qy[y] * qy[y] + q.x * q.x + q.y * q.y;
    double si, co;
    sincos(qx * shift_x + qy[y] * shift_y + q.x * shift_z, &si, &co);
    const double e = exp(-q.y * shift_z), fr = e * im / norm, fi = -e * re / norm;
    out[at].x = (float)(fr * co - fi * si);
    out[at].y = (float)(fr * si + fi * co);
}
