/* One Jacobi step in blocks of tile_i x tile_j points. The problem defines the macros with -D. */
#include <stddef.h>

#define STRING(x) #x
#define PRAGMA(x) _Pragma(STRING(x))

void stencil(double *restrict out, const double *restrict in) {
    const ptrdiff_t w = n;
#pragma omp parallel for num_threads(nthreads) schedule(static)
    for (ptrdiff_t bi = 1; bi < n - 1; bi += tile_i) {
        const ptrdiff_t ei = bi + tile_i < n - 1 ? bi + tile_i : n - 1;
        for (ptrdiff_t bj = 1; bj < n - 1; bj += tile_j) {
            const ptrdiff_t ej = bj + tile_j < n - 1 ? bj + tile_j : n - 1;
            for (ptrdiff_t i = bi; i < ei; i++) {
#if use_simd
#pragma omp simd
#else
                PRAGMA(GCC unroll unroll_by)
#endif
                for (ptrdiff_t j = bj; j < ej; j++) {
                    const double *c = in + i * w + j;
                    out[i * w + j] = 0.5 * c[0] + 0.125 * (c[-1] + c[1] + c[-w] + c[w]);
                }
            }
        }
    }
}
