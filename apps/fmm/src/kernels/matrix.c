// Matrices times vectors of boxes, gathered by pointers.
#include "vector.h"

// Rows of a panel: two vectors.
#define PANEL (2 * LANES)
#define COLUMNS 6

// y_j (+)= A x_j for j below `columns`: A is packed in panels, [rows / PANEL][depth][PANEL], the last one padded.
static void apply(long rows, long depth, const real *a, long columns, const real *const *x, real *const *y, int add) {
    for (long r = 0; r < rows; r += PANEL, a += depth * PANEL) {
        const long left = rows - r;
        for (long j = 0; j < columns; j += COLUMNS) {
            const long n = columns - j < COLUMNS ? columns - j : COLUMNS;
            const real *in[COLUMNS];
            for (long c = 0; c < COLUMNS; c++) in[c] = x[j + (c < n ? c : 0)];
            vec low[COLUMNS], high[COLUMNS];
            for (int c = 0; c < COLUMNS; c++) low[c] = high[c] = all(0);
            for (long k = 0; k < depth; k++) {
                const vec a0 = *(const vec *)(a + k * PANEL), a1 = *(const vec *)(a + k * PANEL + LANES);
                for (int c = 0; c < COLUMNS; c++) low[c] += a0 * in[c][k], high[c] += a1 * in[c][k];
            }
            for (long c = 0; c < n; c++) {
                real *to = y[j + c] + r;
                if (left >= PANEL) {
                    vec *out = (vec *)to;
                    if (add) out[0] += low[c], out[1] += high[c];
                    else out[0] = low[c], out[1] = high[c];
                } else {
                    real rest[2 * VBYTES / sizeof(real)];
                    *(vec *)rest = low[c], *(vec *)(rest + LANES) = high[c];
                    for (long i = 0; i < left; i++) to[i] = add ? to[i] + rest[i] : rest[i];
                }
            }
        }
    }
}
