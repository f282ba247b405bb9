// C = A B, n x n, row major. The tuner defines n and the parameters with -D; the tile is a pair of template arguments, so
// that its loops are unrolled and its sums stay in registers.
#include <stddef.h>

namespace {

// A tile of C: the rows [k0, k0 + depth) of B are multiplied and added.
template <typename Real, int Rows, int Columns>
inline void tile(Real *__restrict c, const Real *__restrict a, const Real *__restrict b, bool first) {
    Real sum[Rows][Columns];
    for (int i = 0; i < Rows; i++)
        for (int j = 0; j < Columns; j++)
            sum[i][j] = first ? Real(0) : c[i * n + j];
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < Rows; i++)
            for (int j = 0; j < Columns; j++)
                sum[i][j] += a[i * n + k] * b[k * n + j];
    for (int i = 0; i < Rows; i++)
        for (int j = 0; j < Columns; j++)
            c[i * n + j] = sum[i][j];
}

} // namespace

extern "C" void multiply(double *c, const double *a, const double *b) {
    for (ptrdiff_t k = 0; k < n; k += depth) {
#pragma omp parallel for num_threads(nthreads) schedule(static)
        for (ptrdiff_t i = 0; i < n; i += tile_rows)
            for (ptrdiff_t j = 0; j < n; j += tile_columns)
                tile<double, tile_rows, tile_columns>(c + i * n + j, a + i * n + k, b + k * n + j, k == 0);
    }
}
