/* C += A B, row major, n x n. Names come from the problem as -D: mr, nv, nr, kc, mc, nc, lanes,
 * unroll_by, ahead, nthreads. */
#include <stddef.h>
#include <stdlib.h>

typedef double vec __attribute__((vector_size(8 * lanes), aligned(8 * lanes)));
typedef double uvec __attribute__((vector_size(8 * lanes), aligned(8)));

#define STRING(x) #x
#define PRAGMA(x) _Pragma(STRING(x))
#define MIN(x, y) ((x) < (y) ? (x) : (y))

/* Tile of C over one panel of A (mr wide) and one of B (nr wide), both packed. */
static inline void micro(ptrdiff_t k, const double *restrict pa, const double *restrict pb,
                         double *restrict c, ptrdiff_t rows, ptrdiff_t columns) {
    vec t[mr][nv];
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
                uvec *out = (uvec *)(c + i * n + j * lanes);
                *out += t[i][j];
            }
    } else {
        const double *flat = (const double *)t;
        for (ptrdiff_t i = 0; i < rows; i++)
            for (ptrdiff_t j = 0; j < columns; j++) c[i * n + j] += flat[i * nr + j];
    }
}

/* Rows of B in panels nr wide, zeros beyond the edge. */
static void pack_b(ptrdiff_t k, ptrdiff_t width, const double *restrict b, double *restrict out) {
#pragma omp for schedule(static)
    for (ptrdiff_t j = 0; j < width; j += nr) {
        const ptrdiff_t w = MIN(nr, width - j);
        double *o = out + j * kc;
        for (ptrdiff_t p = 0; p < k; p++)
            for (ptrdiff_t x = 0; x < nr; x++) o[p * nr + x] = x < w ? b[p * n + j + x] : 0.0;
    }
}

/* Columns of A in panels mr high, zeros beyond the edge. */
static void pack_a(ptrdiff_t height, ptrdiff_t k, const double *restrict a, double *restrict out) {
    for (ptrdiff_t i = 0; i < height; i += mr) {
        const ptrdiff_t h = MIN(mr, height - i);
        double *o = out + i * kc;
        for (ptrdiff_t y = 0; y < mr; y++)
            for (ptrdiff_t p = 0; p < k; p++) o[p * mr + y] = y < h ? a[(i + y) * n + p] : 0.0;
    }
}

/* Packed panels, kept from call to call. */
static double *packed_b, *packed_a[nthreads];

static void *array(size_t doubles) {
    void *p = NULL;
    return posix_memalign(&p, 2u << 20, doubles * sizeof(double)) ? NULL : p;
}

#include <omp.h>

void dgemm(double *restrict c, const double *restrict a, const double *restrict b) {
    if (!packed_b) {
        packed_b = array((size_t)kc * (nc + nr) + ahead * nr);
        for (int t = 0; t < nthreads; t++) packed_a[t] = array((size_t)kc * (mc + mr) + ahead * mr);
    }
#pragma omp parallel num_threads(nthreads)
    {
        double *own = packed_a[omp_get_thread_num()];
        for (ptrdiff_t jc = 0; jc < n; jc += nc) {
            const ptrdiff_t width = MIN(nc, n - jc);
            for (ptrdiff_t pc = 0; pc < n; pc += kc) {
                const ptrdiff_t k = MIN(kc, n - pc);
                pack_b(k, width, b + pc * n + jc, packed_b);
#pragma omp for schedule(dynamic)
                for (ptrdiff_t ic = 0; ic < n; ic += mc) {
                    const ptrdiff_t height = MIN(mc, n - ic);
                    pack_a(height, k, a + ic * n + pc, own);
                    for (ptrdiff_t j = 0; j < width; j += nr)
                        for (ptrdiff_t i = 0; i < height; i += mr)
                            micro(k, own + i * kc, packed_b + j * kc,
                                  c + (ic + i) * n + jc + j, MIN(mr, height - i),
                                  MIN(nr, width - j));
                }
            }
        }
    }
}
