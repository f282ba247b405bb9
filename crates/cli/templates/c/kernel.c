/* B = transpose of A, n x n, in blocks of tile_i x tile_j elements. The tuner defines n and the parameters with -D. */
#include <stddef.h>

#define STRING(x) #x
#define PRAGMA(x) _Pragma(STRING(x))

static ptrdiff_t end(ptrdiff_t begin, ptrdiff_t length) {
    return begin + length < n ? begin + length : n;
}

void transpose(double *restrict b, const double *restrict a) {
    const ptrdiff_t w = n;
#pragma omp parallel for num_threads(nthreads) schedule(static)
    for (ptrdiff_t bi = 0; bi < n; bi += tile_i) {
        const ptrdiff_t ei = end(bi, tile_i);
        for (ptrdiff_t bj = 0; bj < n; bj += tile_j) {
            const ptrdiff_t ej = end(bj, tile_j);
#if along_b
            for (ptrdiff_t j = bj; j < ej; j++) {
                PRAGMA(GCC unroll unroll_by)
                for (ptrdiff_t i = bi; i < ei; i++)
                    b[j * w + i] = a[i * w + j];
            }
#else
            for (ptrdiff_t i = bi; i < ei; i++) {
                PRAGMA(GCC unroll unroll_by)
                for (ptrdiff_t j = bj; j < ej; j++)
                    b[j * w + i] = a[i * w + j];
            }
#endif
        }
    }
}
