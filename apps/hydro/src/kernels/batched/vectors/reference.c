/* The products in extended precision. */
#include <stdint.h>

void vectors(const double *f, const double *x, double *y) {
#pragma omp parallel for
    for (int64_t z = 0; z < zones; z++) {
        const double *of_zone = f + z * rows * columns;
#if number == 8
        for (int i = 0; i < rows; i++) {
            long double sum = 0;
            for (int j = 0; j < columns; j++) sum += (long double)of_zone[i + j * rows] * x[z * columns + j];
            y[z * rows + i] = (double)sum;
        }
#else
        for (int j = 0; j < columns; j++) {
            long double sum = 0;
            for (int i = 0; i < rows; i++) sum += (long double)of_zone[i + j * rows] * x[z * rows + i];
            y[z * columns + j] = (double)sum;
        }
#endif
    }
}
