/* Microbenchmarks of a GPU. Every kernel takes (in, out, n, passes): n vectors of 16 bytes, or steps
 * of a chain; passes over them. What each thread reaches is written to `out`, and checked.
 *
 *   number    0 pairs of halves, 1 float, 2 double
 *   products  FMAs on each number of the stream; 0: one add
 *   tensor    operands of the matrix kernels: 0 tf32, 1 bf16, 2 fp8 (e4m3), 3 int8
 *   depth     k of one product of doubles: 4, 8 or 16
 *   ways      ways through the table of random accesses that a thread follows at once
 */
typedef unsigned int u32;
typedef unsigned long long u64;

#if number == 0
/* Two halves in one word. */
struct Number {
    u32 bits;
};
__device__ inline Number make(float x) {
    Number n;
    asm("{.reg .f16 h; cvt.rn.f16.f32 h, %1; mov.b32 %0, {h, h};}" : "=r"(n.bits) : "f"(x));
    return n;
}
__device__ inline Number fma(Number a, Number b, Number c) {
    Number n;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(n.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
    return n;
}
__device__ inline Number negative(Number a) {
    Number n;
    asm("neg.f16x2 %0, %1;" : "=r"(n.bits) : "r"(a.bits));
    return n;
}
__device__ inline Number add(Number a, Number b) {
    Number n;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(n.bits) : "r"(a.bits), "r"(b.bits));
    return n;
}
#else
#if number == 1
typedef float Number;
#else
typedef double Number;
#endif
__device__ inline Number make(double x) { return (Number)x; }
__device__ inline Number negative(Number a) { return -a; }
__device__ inline Number add(Number a, Number b) { return a + b; }
#endif

constexpr int WIDE = 16 / sizeof(Number);
union Vector {
    uint4 words;
    Number v[WIDE];
};

__device__ inline long long position() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
__device__ inline long long all() { return gridDim.x * (long long)blockDim.x; }

/* Blocks take tiles of AHEAD vectors a thread, one after the other: what a block reads lies together. */
template <int ahead> __device__ inline long long first_tile() {
    return blockIdx.x * (long long)(ahead * blockDim.x) + threadIdx.x;
}
template <int ahead> __device__ inline long long next_tile() { return ahead * all(); }

/* Streams numbers from memory with so many products on each (thesis §4.2). */
extern "C" __global__ void __launch_bounds__(1024)
intensity(const uint4 *in, Number *out, long long n, int passes) {
    constexpr int AHEAD = 8;
    Number sums[2][WIDE];
    for (int a = 0; a < 2; a++)
        for (int w = 0; w < WIDE; w++) sums[a][w] = make(0);
    const Number by = make(0.9990234375), plus = make(0.0009765625);
    for (int pass = 0; pass < passes; pass++)
        for (long long i = first_tile<AHEAD>(); i < n; i += next_tile<AHEAD>()) {
            Vector x[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                const long long at = i + a * blockDim.x;
                x[a].words = at < n ? __ldcs(in + at) : make_uint4(0, 0, 0, 0);
            }
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
#pragma unroll
                for (int w = 0; w < WIDE; w++) {
#if products == 0
                    sums[a % 2][w] = add(sums[a % 2][w], x[a].v[w]);
#else
                    Number v = x[a].v[w];
#pragma unroll
                    for (int k = 1; k < products; k++) v = fma(v, by, plus);
                    sums[a % 2][w] = fma(v, by, sums[a % 2][w]);
#endif
                }
        }
    Number sum = make(0);
    for (int a = 0; a < 2; a++)
        for (int w = 0; w < WIDE; w++) sum = add(sum, sums[a][w]);
    out[position()] = sum;
}

/* Products in registers alone: 8 chains of n steps. Each turns a point by an angle, so that its bits
 * stay as random as they were: x = c y - x, then y = c x - y. */
extern "C" __global__ void __launch_bounds__(1024)
peak(const Number *in, Number *out, long long n, int passes) {
    constexpr int CHAINS = 8;
    Number x[CHAINS], y[CHAINS];
    const Number by = make(1.234375);
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        x[c] = in[(position() + c) % 4096];
        y[c] = in[(position() + c + 2048) % 4096];
    }
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < (int)n; i += 64)
#pragma unroll
            for (int k = 0; k < 64; k += 2) {
#pragma unroll
                for (int c = 0; c < CHAINS; c++) x[c] = fma(by, y[c], negative(x[c]));
#pragma unroll
                for (int c = 0; c < CHAINS; c++) y[c] = fma(by, x[c], negative(y[c]));
            }
    Number sum = make(0);
    for (int c = 0; c < CHAINS; c++) sum = add(sum, x[c]);
    out[position()] = sum;
}

/* An addition and an exclusive or a step: 8 chains. */
extern "C" __global__ void integers(const u32 *in, u32 *out, long long n, int passes) {
    u32 v[8];
    const u32 plus = in[0] | 1, with = in[1];
#pragma unroll
    for (int c = 0; c < 8; c++) v[c] = in[(position() + c) % 4096];
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < (int)n; i += 32)
#pragma unroll
            for (int k = 0; k < 32; k++)
#pragma unroll
                for (int c = 0; c < 8; c++) {
                    v[c] += plus;
                    v[c] ^= with;
                }
    u32 sum = 0;
    for (int c = 0; c < 8; c++) sum += v[c];
    out[position()] = sum;
}

__device__ inline float reciprocal_root(float x) {
#ifdef GREENUP_SHIM
    return 1 / sqrtf(x);
#else
    float root;
    asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#endif
}

/* A reciprocal root and a product a step: 8 chains. */
extern "C" __global__ void roots(const float *in, float *out, long long n, int passes) {
    float v[8], by[8];
#pragma unroll
    for (int c = 0; c < 8; c++) {
        v[c] = 0.5f + in[(position() + c) % 4096] * in[(position() + c) % 4096];
        by[c] = 0.5f + in[c] * in[c];
    }
    for (int pass = 0; pass < passes; pass++)
        for (long long i = 0; i < n; i += 8)
#pragma unroll
            for (int k = 0; k < 8; k++)
#pragma unroll
                for (int c = 0; c < 8; c++)
                    v[c] = reciprocal_root(v[c] * by[(c + k) % 8]);
    float sum = 0;
    for (int c = 0; c < 8; c++) sum += v[c];
    out[position()] = sum;
}

__device__ inline void mix(uint4 &to, uint4 a, uint4 b) {
    to.x ^= a.x ^ b.x;
    to.y ^= a.y ^ b.y;
    to.z ^= a.z ^ b.z;
    to.w ^= a.w ^ b.w;
}

/* Reads from shared memory, 32 KiB a block, n times a pass and thread: two vectors a step. */
extern "C" __global__ void shared_read(const uint4 *in, uint4 *out, long long n, int passes) {
    __shared__ uint4 kept[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) kept[i] = in[i];
    __syncthreads();
    uint4 sum = make_uint4(0, 0, 0, 0);
    for (int pass = 0; pass < passes; pass++)
        for (long long i = 0; i < n; i += 16)
#pragma unroll
            for (int k = 0; k < 16; k += 2) {
                const u32 at = (threadIdx.x + (u32)(i + k) * 32 + pass) & 2047;
                mix(sum, kept[at], kept[(at + 32) & 2047]);
            }
    out[position()] = sum;
}

/* Reads n vectors from beyond L1, all threads together, each pass from another place on. */
extern "C" __global__ void __launch_bounds__(1024)
far_read(const uint4 *in, uint4 *out, long long n, int passes) {
    constexpr int AHEAD = 8;
    uint4 sum = make_uint4(0, 0, 0, 0);
    for (int pass = 0; pass < passes; pass++)
        for (long long i = first_tile<AHEAD>(); i < n; i += next_tile<AHEAD>()) {
            uint4 x[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                const long long from = i + a * blockDim.x;
                long long at = from + pass * 4096LL;
                at = at < n ? at : at - n;
                x[a] = from < n ? __ldcg(in + at) : make_uint4(0, 0, 0, 0);
            }
#pragma unroll
            for (int a = 0; a < AHEAD; a += 2) mix(sum, x[a], x[a + 1]);
        }
    out[position()] = sum;
}

extern "C" __global__ void __launch_bounds__(1024)
write(const uint4 *in, uint4 *out, long long n, int passes) {
    constexpr int AHEAD = 4;
    uint4 x = in[position() % 4096];
    for (int pass = 0; pass < passes; pass++)
        for (long long i = first_tile<AHEAD>(); i < n; i += next_tile<AHEAD>()) {
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
                if (i + a * blockDim.x < n) __stcs(out + i + a * blockDim.x, x);
            x.x += 1;
        }
}

extern "C" __global__ void __launch_bounds__(1024)
copy(const uint4 *in, uint4 *out, long long n, int passes) {
    constexpr int AHEAD = 8;
    for (int pass = 0; pass < passes; pass++)
        for (long long i = first_tile<AHEAD>(); i < n; i += next_tile<AHEAD>()) {
            uint4 x[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
                if (i + a * blockDim.x < n) x[a] = __ldcs(in + i + a * blockDim.x);
#pragma unroll
            for (int a = 0; a < AHEAD; a++)
                if (i + a * blockDim.x < n) __stcs(out + i + a * blockDim.x, x[a]);
        }
}

/* A vector a thread where there are threads enough. */
extern "C" __global__ void copy_once(const uint4 *in, uint4 *out, long long n, int passes) {
    for (int pass = 0; pass < passes; pass++)
        for (long long i = position(); i < n; i += all()) __stcs(out + i, __ldcs(in + i));
}

/* The ways through a table of n lines (a power of two): a permutation in one cycle. */
extern "C" __global__ void table(const u32 *in, u32 *out, long long n, int passes) {
    for (long long i = position(); i < n; i += all())
        out[i * 16] = (u32)((i * 1664525ULL + 1013904223ULL) & (u64)(n - 1));
}

/* Each thread follows its ways through the table, one line after the other. */
extern "C" __global__ void __launch_bounds__(1024)
chase(const u32 *in, u32 *out, long long n, int passes) {
    u32 at[ways];
#pragma unroll
    for (int c = 0; c < ways; c++)
        at[c] = (u32)(((position() * ways + c) * 2654435761ULL) % (u64)n);
    for (int pass = 0; pass < passes; pass++)
#pragma unroll
        for (int c = 0; c < ways; c++) at[c] = in[at[c] * 16LL];
    u32 all_ways = 0;
#pragma unroll
    for (int c = 0; c < ways; c++) all_ways ^= at[c];
    out[position()] = all_ways;
}

#ifndef GREENUP_SHIM
/* Products of doubles on the tensor cores: 4 x 4 of 16 x 8 x depth a warp, `passes` times. */
extern "C" __global__ void dmma(const double *in, double *out, long long n, int passes) {
    double a[4][depth / 2], b[4][depth / 4], c[4][4][4];
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int e = 0; e < depth / 2; e++) a[i][e] = in[(i * 8 + e) * 32 + lane];
#pragma unroll
        for (int e = 0; e < depth / 4; e++) b[i][e] = in[1024 + (i * 4 + e) * 32 + lane];
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) c[i][j][e] = 0;
    }
    for (int pass = 0; pass < passes; pass++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
#if depth == 4
                asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                             "{%4,%5}, {%6}, {%0,%1,%2,%3};"
                             : "+d"(c[i][j][0]), "+d"(c[i][j][1]), "+d"(c[i][j][2]), "+d"(c[i][j][3])
                             : "d"(a[i][0]), "d"(a[i][1]), "d"(b[j][0]));
#elif depth == 8
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                             "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+d"(c[i][j][0]), "+d"(c[i][j][1]), "+d"(c[i][j][2]), "+d"(c[i][j][3])
                             : "d"(a[i][0]), "d"(a[i][1]), "d"(a[i][2]), "d"(a[i][3]), "d"(b[j][0]),
                               "d"(b[j][1]));
#else
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                             "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                             : "+d"(c[i][j][0]), "+d"(c[i][j][1]), "+d"(c[i][j][2]), "+d"(c[i][j][3])
                             : "d"(a[i][0]), "d"(a[i][1]), "d"(a[i][2]), "d"(a[i][3]), "d"(a[i][4]),
                               "d"(a[i][5]), "d"(a[i][6]), "d"(a[i][7]), "d"(b[j][0]), "d"(b[j][1]),
                               "d"(b[j][2]), "d"(b[j][3]));
#endif
            }
    double sum = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) sum += c[i][j][e] * (1 + e + 4 * (j + 4 * i));
    out[position()] = sum;
}

#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#if tensor == 3
typedef int Sum;
#define HELD(e) "+r"(d[e])
#define SHAPE "m64n128k32.s32.s8.s8"
#define TAIL "p;"
#elif tensor == 2
typedef float Sum;
#define HELD(e) "+f"(d[e])
#define SHAPE "m64n128k32.f32.e4m3.e4m3"
#define TAIL "p, 1, 1;"
#elif tensor == 1
typedef float Sum;
#define HELD(e) "+f"(d[e])
#define SHAPE "m64n128k16.f32.bf16.bf16"
#define TAIL "p, 1, 1, 0, 0;"
#else
typedef float Sum;
#define HELD(e) "+f"(d[e])
#define SHAPE "m64n128k8.f32.tf32.tf32"
#define TAIL "p, 1, 1;"
#endif
#define HELD8(e) HELD(e), HELD(e + 1), HELD(e + 2), HELD(e + 3), HELD(e + 4), HELD(e + 5), \
                 HELD(e + 6), HELD(e + 7)

/* 8 rows of 16 bytes lie together; two such blocks make 32 bytes of k, then come the next 8 rows. */
__device__ inline u64 describe(const void *p) {
    const u64 at = (u64)__cvta_generic_to_shared(p);
    return ((at & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
}

/* A group of four warps multiplies 64 rows by 128 columns, 32 bytes of k at a time, 4 slices in turn.
 * In `in` lie, for each slice, 128 rows of A (64 for even groups, 64 for odd) and 128 columns of B. */
extern "C" __global__ void __launch_bounds__(512) wgmma(const uint4 *in, Sum *out, long long n,
                                                        int passes) {
    __shared__ __align__(128) uint4 kept[4 * 512];
    for (int i = threadIdx.x; i < 4 * 512; i += blockDim.x) kept[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    Sum d[64];
#pragma unroll
    for (int e = 0; e < 64; e++) d[e] = 0;
    const int group = threadIdx.x / 128 % 2;
    for (int pass = 0; pass < passes; pass++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int s = 0; s < 4; s++) {
            const u64 a = describe(kept + s * 512 + group * 128), b = describe(kept + s * 512 + 256);
            asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                         "wgmma.mma_async.sync.aligned." SHAPE
                         " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"
                         "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,"
                         "%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,"
                         "%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, " TAIL "}"
                         : HELD8(0), HELD8(8), HELD8(16), HELD8(24), HELD8(32), HELD8(40), HELD8(48),
                           HELD8(56)
                         : "l"(a), "l"(b));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    /* Rows lane/4 and 8 further of each warp's 16; columns 8 e + 2 (lane % 4) and the next. */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int e = 0; e < 64; e++) {
        const int row = 16 * warp + lane / 4 + (e / 2 % 2) * 8;
        const int column = e / 4 * 8 + 2 * (lane % 4) + e % 2;
        out[(blockIdx.x * (blockDim.x / 2LL) + row) * 128 + column] = d[e];
    }
}
#endif
