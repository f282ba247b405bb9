/* Heat on a plate, with regions for its parts.
 *
 *   cc -O2 heat.c -I../../crates/regions/include -L../../target/debug -lgreenup_regions -lm -o heat
 *   LD_LIBRARY_PATH=../../target/debug ./heat
 */
#include "greenup.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512 };

static double residual(const double *a, const double *b) {
    GREENUP_REGION("residual"); /* until the end of the function */
    double sum = 0;
    for (int i = 0; i < N * N; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

int main(void) {
    greenup_region_begin("setup");
    double *a = calloc(N * N, sizeof *a), *b = calloc(N * N, sizeof *b);
    if (!a || !b)
        return 1;
    for (int i = 0; i < N; i++)
        a[i] = b[i] = 1;
    greenup_region_end("setup");

    greenup_region_begin("solve");
    double left = 0;
    for (int step = 0; step < 200; step++) {
        greenup_region_begin("step");
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                b[i * N + j] = 0.25 * (a[(i - 1) * N + j] + a[(i + 1) * N + j] + a[i * N + j - 1] + a[i * N + j + 1]);
        greenup_region_end("step");
        if (step % 10 == 0)
            left = residual(a, b);
        double *t = a;
        a = b;
        b = t;
    }
    greenup_region_end("solve");
    printf("residual %.6f\n", left);
    free(a);
    free(b);
    return 0;
}
