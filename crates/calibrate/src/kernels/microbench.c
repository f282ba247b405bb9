/* Microbenchmark kernels, compiled once for each instruction set (ISA, VBYTES by build.rs).
 *
 * Vectors are the compiler's own vector types, so one source serves AVX-512, AVX2, NEON and
 * plain code. Each arithmetic kernel does exactly the operations that its caller counts:
 * one block is 48 vector operations on U independent accumulators, enough to hide the latency
 * of two pipes. 48 divides by both 12 (16 registers) and 16 (32 registers).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2(a, b)
#define NAME(f) CAT(f, ISA)
#define BLOCK 48
#if VBYTES == 64 || defined(__aarch64__)
#define U 16
#else
#define U 12
#endif
#define INLINE static inline __attribute__((always_inline))

typedef double v_f64 __attribute__((vector_size(VBYTES), aligned(VBYTES), may_alias));
typedef float v_f32 __attribute__((vector_size(VBYTES), aligned(VBYTES), may_alias));
typedef uint64_t v_u64 __attribute__((vector_size(VBYTES), aligned(VBYTES), may_alias));
typedef uint32_t v_u32 __attribute__((vector_size(VBYTES), aligned(VBYTES), may_alias));

/* One block: BLOCK/k vectors, k FMAs on each; acc = acc * x + c stays bounded for x in [0.5, 1). */
#define FMA_BLOCK(V, k)                                                                          \
    INLINE void CAT(fma_block_##k, V)(const V *x, V *acc, V c) {                                 \
        _Pragma("GCC unroll 48") for (int i = 0; i < BLOCK; i++) acc[i % U] =                    \
            acc[i % U] * x[i / (k)] + c;                                                         \
    }

/* n elements, a multiple of the block. k: FMAs an element; 0: one add an element; -1: one add
 * for two elements (joined by OR, which keeps values of [0.5, 1) inside). k > 48: multiples of 48. */
#define INTENSITY(T, V, VI)                                                                      \
    FMA_BLOCK(V, 1) FMA_BLOCK(V, 2) FMA_BLOCK(V, 3) FMA_BLOCK(V, 4) FMA_BLOCK(V, 6)              \
    FMA_BLOCK(V, 8) FMA_BLOCK(V, 12) FMA_BLOCK(V, 16) FMA_BLOCK(V, 24) FMA_BLOCK(V, 48)          \
    double NAME(intensity_##V)(const T *data, size_t n, int k) {                                 \
        const V *x = (const V *)data;                                                            \
        size_t vectors = n / (VBYTES / sizeof(T));                                               \
        V acc[U], c = {0};                                                                       \
        c += (T)0.25;                                                                            \
        for (int u = 0; u < U; u++) acc[u] = c * (T)(u + 1);                                     \
        _Pragma("GCC diagnostic push")                                                           \
        switch (k) {                                                                             \
            case -1:                                                                             \
                for (size_t i = 0; i + BLOCK <= vectors; i += BLOCK) {                           \
                    _Pragma("GCC unroll 48") for (int j = 0; j < BLOCK; j += 2) acc[j / 2 % U] +=\
                        (V)((VI)x[i + j] | (VI)x[i + j + 1]);                                    \
                }                                                                                \
                break;                                                                           \
            case 0:                                                                              \
                for (size_t i = 0; i + BLOCK <= vectors; i += BLOCK) {                           \
                    _Pragma("GCC unroll 48") for (int j = 0; j < BLOCK; j++) acc[j % U] +=       \
                        x[i + j];                                                                \
                }                                                                                \
                break;                                                                           \
            CASE(V, 1) CASE(V, 2) CASE(V, 3) CASE(V, 4) CASE(V, 6)                               \
            CASE(V, 8) CASE(V, 12) CASE(V, 16) CASE(V, 24)                                       \
            default:                                                                             \
                for (size_t i = 0; i < vectors; i++)                                             \
                    for (int r = 0; r < k; r += BLOCK) CAT(fma_block_48, V)(x + i, acc, c);      \
        }                                                                                        \
        _Pragma("GCC diagnostic pop")                                                            \
        V sum = acc[0];                                                                          \
        for (int u = 1; u < U; u++) sum += acc[u];                                               \
        double s = 0;                                                                            \
        for (size_t l = 0; l < VBYTES / sizeof(T); l++) s += sum[l];                             \
        return s;                                                                                \
    }

#define CASE(V, k)                                                                               \
    case k:                                                                                      \
        for (size_t i = 0; i + BLOCK / k <= vectors; i += BLOCK / k)                             \
            CAT(fma_block_##k, V)(x + i, acc, c);                                                \
        break;

INTENSITY(double, v_f64, v_u64)
INTENSITY(float, v_f32, v_u32)

/* 32-bit integers: an add and a logical operation for each of k rounds on each element. */
uint64_t NAME(integer)(const uint32_t *data, size_t n, int k) {
    const v_u32 *x = (const v_u32 *)data;
    size_t vectors = n / (VBYTES / 4);
    v_u32 acc[U], c = {0};
    c += 0x9e3779b9u;
    for (int u = 0; u < U; u++) acc[u] = c * (uint32_t)(u + 1);
    for (size_t i = 0; i < vectors; i++)
        for (int r = 0; r < k; r += BLOCK) {
            v_u32 xi = x[i];
            _Pragma("GCC unroll 48") for (int j = 0; j < BLOCK; j++) acc[j % U] =
                (acc[j % U] + xi) ^ c;
        }
    uint64_t s = 0;
    for (int u = 0; u < U; u++)
        for (size_t l = 0; l < VBYTES / 4; l++) s += acc[u][l];
    return s;
}

/* Square roots of n doubles; vectorised by the compiler. */
void NAME(square_roots)(const double *restrict x, double *restrict y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = __builtin_sqrt(x[i]);
}

/* Reads every byte of n doubles; one logical operation a vector. */
uint64_t NAME(read)(const double *data, size_t n) {
    const v_u64 *x = (const v_u64 *)data;
    size_t vectors = n / (VBYTES / 8);
    v_u64 acc[8] = {{0}};
    for (size_t i = 0; i + 8 <= vectors; i += 8) {
        _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) acc[j] ^= x[i + j];
    }
    uint64_t s = 0;
    for (int u = 0; u < 8; u++)
        for (size_t l = 0; l < VBYTES / 8; l++) s += acc[u][l];
    return s;
}

/* Stores that bypass the caches, where the instruction set has them: no write-allocate traffic. */
INLINE void stream(v_f64 *p, v_f64 v) {
#if VBYTES == 64 && defined(__AVX512F__)
    _mm512_stream_pd((double *)p, (__m512d)v);
#elif VBYTES == 32 && defined(__AVX__)
    _mm256_stream_pd((double *)p, (__m256d)v);
#elif VBYTES == 16 && defined(__SSE2__)
    _mm_stream_pd((double *)p, (__m128d)v);
#else
    *p = v;
#endif
}

INLINE void fence(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#define STREAMED(name, args, body)                                                               \
    void NAME(name) args {                                                                       \
        size_t vectors = n / (VBYTES / 8);                                                       \
        for (size_t i = 0; i + 8 <= vectors; i += 8) {                                           \
            _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) body;                            \
        }                                                                                        \
        fence();                                                                                 \
    }

STREAMED(write, (double *a, size_t n), stream((v_f64 *)a + i + j, (v_f64){0} + 1.5))
STREAMED(copy, (double *a, const double *b, size_t n),
         stream((v_f64 *)a + i + j, ((const v_f64 *)b)[i + j]))
STREAMED(triad, (double *a, const double *b, const double *c, double s, size_t n),
         stream((v_f64 *)a + i + j, ((const v_f64 *)b)[i + j] + s * ((const v_f64 *)c)[i + j]))

/* Follows a chain of `steps` dependent loads; element i of `next` is the index of its successor. */
uint64_t NAME(chase)(const uint64_t *next, uint64_t start, size_t steps) {
    uint64_t p = start;
    for (size_t i = 0; i < steps; i++) p = next[p];
    return p;
}
