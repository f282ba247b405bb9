/* The products in extended precision. */
#include <stdint.h>

/* Element e of matrix m. */
#define AT(m, e) (layout ? (int64_t)(e) * total + (m) : (m) * (dim * dim) + (e))

void products(const double *a, const double *b, double *c) {
#pragma omp parallel for
    for (int64_t m = 0; m < total; m++)
        for (int i = 0; i < dim; i++)
            for (int j = 0; j < dim; j++) {
                long double sum = 0;
                for (int k = 0; k < dim; k++)
                    sum += (long double)a[AT(m, i + k * dim)] * b[AT(m, trans_b ? j + k * dim : k + j * dim)];
                c[AT(m, i + j * dim)] = (double)sum;
            }
}
