/* Row lengths and columns of a matrix; on entry `column` holds random numbers below 1e9. */
#include <stdint.h>

void matrix(double *y, int64_t *start, int32_t *column, double *value, double *x) {
    (void)y, (void)value, (void)x;
    start[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        start[i + 1] = start[i] + 12 + i * 7919 % 25;
        for (int64_t e = start[i]; e < start[i + 1]; e++) {
            int64_t j = column[e];
            if (e % 2) j = (i + j % (2 * band) - band + rows) % rows;
            column[e] = (int32_t)(j % rows);
        }
    }
}
