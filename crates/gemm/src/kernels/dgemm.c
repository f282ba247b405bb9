/* C += A B, row major. Names come from the problem as -D: mr, nv, nr, kc, mc, nc, lanes,
 * unroll_by, ahead, fetch_c, a_inner, nthreads. The structure is Goto's: panels of B packed for
 * the last-level cache, blocks of A for level 2, a tile of C in registers. */
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef double vec __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));
typedef double uvec __attribute__((vector_size(8 * lanes), aligned(8)));

#define STRING(x) #x
#define PRAGMA(x) _Pragma(STRING(x))
#define MIN(x, y) ((x) < (y) ? (x) : (y))

/* Tile of C over one panel of A (mr high) and one of B (nr wide), both packed. */
static inline void micro(ptrdiff_t k, const double *restrict pa, const double *restrict pb,
                         double *restrict c, ptrdiff_t ldc, ptrdiff_t rows, ptrdiff_t columns) {
    vec t[mr][nv];
#if fetch_c
    if (rows == mr && columns == nr)
        for (int i = 0; i < mr; i++) {
            for (int j = 0; j < nv; j++) __builtin_prefetch(c + i * ldc + j * lanes, 1);
            /* A row that starts within a line ends in one more. */
            __builtin_prefetch(c + i * ldc + nr - 1, 1);
        }
#endif
    for (int i = 0; i < mr; i++)
        for (int j = 0; j < nv; j++) t[i][j] = (vec){0};
    PRAGMA(GCC unroll unroll_by)
    for (ptrdiff_t p = 0; p < k; p++) {
        vec b[nv];
        for (int j = 0; j < nv; j++) b[j] = ((const vec *)(pb + p * nr))[j];
#if ahead > 0
        for (int j = 0; j < nv; j++) __builtin_prefetch(pb + (p + ahead) * nr + j * lanes);
        __builtin_prefetch(pa + (p + ahead) * mr);
#endif
        for (int i = 0; i < mr; i++)
            for (int j = 0; j < nv; j++) t[i][j] += pa[p * mr + i] * b[j];
    }
    if (rows == mr && columns == nr) {
        for (int i = 0; i < mr; i++)
            for (int j = 0; j < nv; j++) {
                uvec *out = (uvec *)(c + i * ldc + j * lanes);
                *out += t[i][j];
            }
    } else {
        const double *flat = (const double *)t;
        for (ptrdiff_t i = 0; i < rows; i++)
            for (ptrdiff_t j = 0; j < columns; j++) c[i * ldc + j] += flat[i * nr + j];
    }
}

/* Rows of B in panels nr wide, zeros beyond the edge; shared by the threads. */
static void pack_b(ptrdiff_t k, ptrdiff_t width, const double *restrict b, ptrdiff_t ldb,
                   double *restrict out) {
#pragma omp for schedule(static)
    for (ptrdiff_t j = 0; j < width; j += nr) {
        const ptrdiff_t w = MIN(nr, width - j);
        double *o = out + j * kc;
        if (w == nr)
            for (ptrdiff_t p = 0; p < k; p++)
                for (int x = 0; x < nv; x++)
                    ((vec *)(o + p * nr))[x] = ((const uvec *)(b + p * ldb + j))[x];
        else
            for (ptrdiff_t p = 0; p < k; p++)
                for (ptrdiff_t x = 0; x < nr; x++) o[p * nr + x] = x < w ? b[p * ldb + j + x] : 0.0;
    }
}

/* Columns of A in panels mr high, zeros beyond the edge. */
static void pack_a(ptrdiff_t height, ptrdiff_t k, const double *restrict a, ptrdiff_t lda,
                   double *restrict out) {
    for (ptrdiff_t i = 0; i < height; i += mr) {
        const ptrdiff_t h = MIN(mr, height - i);
        const double *row[mr];
        for (ptrdiff_t y = 0; y < mr; y++) row[y] = a + (i + MIN(y, h - 1)) * lda;
        double *o = out + i * kc;
        for (ptrdiff_t p = 0; p < k; p++)
            for (ptrdiff_t y = 0; y < mr; y++) o[p * mr + y] = row[y][p];
    }
}

/* All tiles of one block of A with one packed panel set of B. */
static void block(ptrdiff_t k, ptrdiff_t height, ptrdiff_t width, const double *pa,
                  const double *pb, double *c, ptrdiff_t ldc) {
#define TILE                                                                                     \
    micro(k, pa + i * kc, pb + j * kc, c + i * ldc + j, ldc, MIN(mr, height - i),                \
          MIN(nr, width - j))
#if a_inner
    for (ptrdiff_t j = 0; j < width; j += nr)
        for (ptrdiff_t i = 0; i < height; i += mr) TILE;
#else
    for (ptrdiff_t i = 0; i < height; i += mr)
        for (ptrdiff_t j = 0; j < width; j += nr) TILE;
#endif
#undef TILE
}

/* Packed panels, kept from call to call; prefetches may run past their end. */
static double *packed_b, *packed_a[nthreads];

static double *array(size_t doubles) {
    void *p = NULL;
    return posix_memalign(&p, 2u << 20, (doubles + 4096) * sizeof(double)) ? NULL : p;
}

static int ready(void) {
    if (!packed_b) packed_b = array((size_t)kc * (nc + nr));
    int all = packed_b != NULL;
    for (int t = 0; t < nthreads; t++) {
        if (!packed_a[t]) packed_a[t] = array((size_t)kc * (mc + mr));
        all = all && packed_a[t];
    }
    return all;
}

void dgemm(int64_t m, int64_t n, int64_t k, double *restrict c, int64_t ldc,
           const double *restrict a, int64_t lda, const double *restrict b, int64_t ldb) {
    if (m < 1 || n < 1 || k < 1) return;
    if (!ready()) abort();
    /* Blocks of equal height, as many for each thread. */
    ptrdiff_t blocks = (m + mc - 1) / mc;
    blocks = (blocks + nthreads - 1) / nthreads * nthreads;
    ptrdiff_t high = (m + blocks - 1) / blocks;
    high = (high + mr - 1) / mr * mr;
    /* Starting a team takes microseconds. */
#pragma omp parallel num_threads(nthreads) if ((double)m * n * k > 1e5)
    {
        double *own = packed_a[omp_get_thread_num()];
        for (ptrdiff_t jc = 0; jc < n; jc += nc) {
            const ptrdiff_t width = MIN(nc, n - jc);
            for (ptrdiff_t pc = 0; pc < k; pc += kc) {
                const ptrdiff_t depth = MIN(kc, k - pc);
                pack_b(depth, width, b + pc * ldb + jc, ldb, packed_b);
#pragma omp for schedule(dynamic)
                for (ptrdiff_t ic = 0; ic < m; ic += high) {
                    const ptrdiff_t height = MIN(high, m - ic);
                    pack_a(height, depth, a + ic * lda + pc, lda, own);
                    block(depth, height, width, own, packed_b, c + ic * ldc + jc, ldc);
                }
            }
        }
    }
}
