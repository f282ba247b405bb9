/* Row starts and columns of the seven-point operator; the values stay random. */
#include <stdint.h>

void matrix(double *y, int64_t *start, int32_t *column, double *value, double *x) {
    (void)y, (void)value, (void)x;
    int64_t at = 0;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t i = row / (side * side), j = row / side % side, k = row % side;
        start[row] = at;
        if (i > 0) column[at++] = (int32_t)(row - side * side);
        if (j > 0) column[at++] = (int32_t)(row - side);
        if (k > 0) column[at++] = (int32_t)(row - 1);
        column[at++] = (int32_t)row;
        if (k + 1 < side) column[at++] = (int32_t)(row + 1);
        if (j + 1 < side) column[at++] = (int32_t)(row + side);
        if (i + 1 < side) column[at++] = (int32_t)(row + side * side);
    }
    start[rows] = at;
}
