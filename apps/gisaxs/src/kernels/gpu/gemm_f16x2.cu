// F on a tensor grid of q by products on tensor cores (Hopper): every factor is a pair of f16, hi + lo, and a
// product hi hi + hi lo + lo hi, so that 22 bits count. q_y come in pairs m + d and m - d, whose cosines and sines
// about the center m are real factors that both share:
//   S(m +- d) = sum w cos(d y) P +- i sum w sin(d y) P,  P = e^{i(q_x x + m y + q_z z)}.
// Left factors (Re P, Im P of each q_z) and right ones (cosine and sine of each weight and pair) lie in tiles of 128 x
// 64 nodes, hi then lo, 16 KiB each, as the tensor cores read them: the 16-byte parts of each line are permuted (XOR with the line number mod 8).

#define TILE 16384
#define DEPTH 3
#define STAGE (4 * TILE)

__device__ __forceinline__ long long position(int tile, int tiles, int deep, int row, int part) {
    return ((long long)tile * tiles + deep) * (2 * TILE) + row * 128 + ((part ^ (row & 7)) * 16);
}

// Rounds two numbers to f16 (`hi`), and their remainders (`lo`).
__device__ __forceinline__ void halve(float x, float y, unsigned *hi, unsigned *lo) {
    float u, v;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*hi) : "f"(y), "f"(x));
    asm("{\n.reg .b16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}" : "=f"(u), "=f"(v) : "r"(*hi));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*lo) : "f"(y - v), "f"(x - u));
}

// Eight numbers, both parts of each in their tiles.
__device__ __forceinline__ void keep(char *at, const float (&x)[8]) {
    uint4 hi, lo;
    halve(x[0], x[1], &hi.x, &lo.x);
    halve(x[2], x[3], &hi.y, &lo.y);
    halve(x[4], x[5], &hi.z, &lo.z);
    halve(x[6], x[7], &hi.w, &lo.w);
    *(uint4 *)at = hi;
    *(uint4 *)(at + TILE) = lo;
}

// Of a phase, rad, by whole turns taken off in double precision.
__device__ __forceinline__ void wave(double phase, float *s, float *c) {
    const double turns = phase * 0.15915494309189533577;
    sincospif(2 * (float)(turns - rint(turns)), s, c);
}

// P of nodes first to first + 64 tiles, a thread for eight of them and one q_z. node: x y z s_x s_y s_z.
extern "C" __global__ void left(long long nodes, const double *node, long long first, int tiles, long long nz,
                                const double2 *qz, double qx, double center, char *out) {
    const long long j = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 8;
    const int part = threadIdx.x % 8, deep = blockIdx.y;
    // Whole tiles of 64 q_z; those behind the last are zeros.
    if (j >= (nz + 63) / 64 * 64) return;
    float re[8] = {0}, im[8] = {0};
    if (j < nz)
        for (int i = 0; i < 8; i++) {
            const long long k = first + 64 * deep + 8 * part + i;
            if (k >= nodes) break;
            const double *n = node + 6 * k;
            float s, c;
            wave(qx * n[0] + center * n[1] + qz[j].x * n[2], &s, &c);
            const float size = qz[j].y == 0 ? 1.0f : expf((float)(-qz[j].y * n[2]));
            re[i] = size * c;
            im[i] = size * s;
        }
    const int row = 2 * (int)(j % 64);
    keep(out + position((int)(j / 64), tiles, deep, row, part), re);
    keep(out + position((int)(j / 64), tiles, deep, row + 1, part), im);
}

// Weights times cosine and sine of d y: sets s_y, s_z and, where along is above 0, q_x s_x + m s_y, over their scale.
// A thread for eight nodes and one pair; across pairs a set.
extern "C" __global__ void right(long long nodes, const double *node, long long first, int tiles, int pairs, int across,
                                 const double *d, int sets, double qx, double center, double scale, double along,
                                 char *out) {
    const int p = (int)((blockIdx.x * (long long)blockDim.x + threadIdx.x) / 8);
    const int part = threadIdx.x % 8, deep = blockIdx.y;
    if (p >= across) return;
    float w[3][8] = {{0}}, s[8] = {0}, c[8] = {0};
    if (p < pairs)
        for (int i = 0; i < 8; i++) {
            const long long k = first + 64 * deep + 8 * part + i;
            if (k >= nodes) break;
            const double *n = node + 6 * k;
            wave(d[p] * n[1], &s[i], &c[i]);
            w[0][i] = (float)(n[4] * scale);
            w[1][i] = (float)(n[5] * scale);
            w[2][i] = (float)((qx * n[3] + center * n[4]) * along);
        }
#pragma unroll
    for (int m = 0; m < 3; m++) {
        if (2 * m >= sets) break;
        float a[8], b[8];
        for (int i = 0; i < 8; i++) {
            a[i] = w[m][i] * c[i];
            b[i] = w[m][i] * s[i];
        }
        const int one = 2 * m * across + p, two = one + across;
        keep(out + position(one / 128, tiles, deep, one % 128, part), a);
        keep(out + position(two / 128, tiles, deep, two % 128, part), b);
    }
}

__device__ __forceinline__ unsigned shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void wait_phase(unsigned long long *barrier, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(shared_at(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ __forceinline__ void bring(unsigned to, const char *from, unsigned bytes, unsigned long long *barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(shared_at(barrier))
        : "memory");
}

// A tile as the tensor cores find it: lines of 128 bytes, groups of 8 lines.
__device__ __forceinline__ unsigned long long tile_at(unsigned at) {
    return (unsigned long long)((at & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

// sum (64 x 128) = or += a (64 x 16) b (128 x 16) transposed.
__device__ __forceinline__ void multiply_add(float (&d)[64], unsigned long long a, unsigned long long b, int more) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1, 0, 0;\n"
        "}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(more));
}

// sums = or += left right transposed, [left row][width]. A block of 128 x 128; one warp brings tiles, two groups of
// four warps multiply. Sums of 64 nodes are added in registers: the tensor cores cut what they round.
extern "C" __global__ void __launch_bounds__(384, 1)
    multiply(int tiles, const char *a, const char *b, long long width, int first, float *sums) {
    extern __shared__ __align__(1024) char held[];
    __shared__ unsigned long long full[DEPTH], empty[DEPTH];
    if (threadIdx.x == 0) {
        for (int i = 0; i < DEPTH; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(full + i)));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared_at(empty + i)));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    const int group = threadIdx.x / 128;
    const unsigned base = (shared_at(held) + 1023) & ~1023u;
    if (group == 0) {
        if (threadIdx.x != 0) return;
        const char *from_a = a + (long long)blockIdx.y * tiles * (2 * TILE), *from_b = b + (long long)blockIdx.x * tiles * (2 * TILE);
        for (int t = 0; t < tiles; t++) {
            const int slot = t % DEPTH;
            wait_phase(empty + slot, (t / DEPTH + 1) & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_at(full + slot)), "r"(STAGE)
                         : "memory");
            bring(base + slot * STAGE, from_a + (long long)t * 2 * TILE, 2 * TILE, full + slot);
            bring(base + slot * STAGE + 2 * TILE, from_b + (long long)t * 2 * TILE, 2 * TILE, full + slot);
        }
        return;
    }
    float all[64], part[64];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        all[i] = 0;
        part[i] = 0;
    }
    for (int t = 0; t < tiles; t++) {
        const int slot = t % DEPTH;
        wait_phase(full + slot, (t / DEPTH) & 1);
        const unsigned at = base + slot * STAGE;
        const unsigned long long a_hi = tile_at(at + (group - 1) * 8192), a_lo = tile_at(at + TILE + (group - 1) * 8192);
        const unsigned long long b_hi = tile_at(at + 2 * TILE), b_lo = tile_at(at + 3 * TILE);
#pragma unroll
        for (int i = 0; i < 64; i++) asm volatile("" : "+f"(part[i])::"memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++) multiply_add(part, a_lo + 2 * k, b_hi + 2 * k, k > 0);
#pragma unroll
        for (int k = 0; k < 4; k++) multiply_add(part, a_hi + 2 * k, b_lo + 2 * k, 1);
#pragma unroll
        for (int k = 0; k < 4; k++) multiply_add(part, a_hi + 2 * k, b_hi + 2 * k, 1);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 64; i++) asm volatile("" : "+f"(part[i])::"memory");
        if (threadIdx.x % 128 == 0)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_at(empty + slot)) : "memory");
#pragma unroll
        for (int i = 0; i < 64; i++) all[i] += part[i];
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const long long row = (long long)blockIdx.y * 128 + (group - 1) * 64 + warp * 16 + lane / 4;
    float *to = sums + row * width + (long long)blockIdx.x * 128 + 2 * (lane % 4);
#pragma unroll
    for (int i = 0; i < 64; i += 2) {
        float2 *at = (float2 *)(to + (i & 2 ? 8 * width : 0) + i / 4 * 8);
        float2 v = make_float2(all[i], all[i + 1]);
        if (!first) {
            v.x += at->x;
            v.y += at->y;
        }
        *at = v;
    }
}

// F of both q_y of each pair; out [q_z][q_y]. scale and along undo those of the weights.
extern "C" __global__ void finish(int pairs, int across, const double *d, long long ny, const double *qy, long long nz,
                                  const double2 *qz, double qx, double center, int sets, double scale, double along,
                                  double shift_x, double shift_y, double shift_z, long long width, const float *sums,
                                  float2 *out) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    const long long z = blockIdx.y;
    if (p >= pairs || z >= nz) return;
    const double2 q = qz[z];
    const float *re = sums + 2 * z * width + p, *im = re + width;
    double s[6][2] = {{0}};
#pragma unroll
    for (int m = 0; m < 6; m++) {
        if (m >= sets) break;
        const double back = m < 4 ? scale : along;
        s[m][0] = back * re[m * across];
        s[m][1] = back * im[m * across];
    }
    const double e = exp(-q.y * shift_z);
#pragma unroll
    for (int sign = 1; sign >= -1; sign -= 2) {
        // cosine +- i sine of each set
        double sum[3][2];
#pragma unroll
        for (int m = 0; m < 3; m++) {
            sum[m][0] = s[2 * m][0] - sign * s[2 * m + 1][1];
            sum[m][1] = s[2 * m][1] + sign * s[2 * m + 1][0];
        }
        const long long y = sign > 0 ? ny - 1 - p : p;
        const double a = sum[2][0] + sign * d[p] * sum[0][0] + q.x * sum[1][0] + q.y * sum[1][1];
        const double b = sum[2][1] + sign * d[p] * sum[0][1] + q.x * sum[1][1] - q.y * sum[1][0];
        const double norm = qx * qx + qy[y] * qy[y] + q.x * q.x + q.y * q.y;
        double si, co;
        sincos(qx * shift_x + qy[y] * shift_y + q.x * shift_z, &si, &co);
        const double fr = e * b / norm, fi = -e * a / norm;
        out[z * ny + y] = make_float2((float)(fr * co - fi * si), (float)(fr * si + fi * co));
    }
}
