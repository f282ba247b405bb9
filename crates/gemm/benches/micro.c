/* The micro-kernel alone: what packing, cache misses and block edges leave out.
 *
 * cc -O3 -march=native -fopenmp -Dlanes=8 -Dmr=14 -Dnv=2 -Dnr=16 -Dkc=320 -Dmc=56 -Dnc=2048 \
 *    -Dunroll_by=2 -Dahead=0 -Dfetch_c=1 -Da_inner=0 -Dnthreads=2 crates/gemm/benches/micro.c && ./a.out
 */
#include "../src/kernels/dgemm.c"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SIDE = 2048, TIMES = 200000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* `panels_a` and `panels_b` panels take turns, tiles of C walk through a matrix or stay. */
static double rate(int panels_a, int panels_b, int walk, double *a[], double *b[], double *c) {
    const double start = now();
#pragma omp parallel num_threads(nthreads)
    {
        const int t = omp_get_thread_num();
        const int down = SIDE / nthreads / mr, across = SIDE / nr;
        for (int x = 0; x < TIMES; x++) {
            const int at = walk ? x % (down * across) : 0;
            double *tile = c + (size_t)(t * (SIDE / nthreads) + at % down * mr) * SIDE + at / down * nr;
            micro(kc, a[t] + x % panels_a * mr * kc, b[t] + x % panels_b * nr * kc, tile, SIDE, mr, nr);
        }
    }
    return 2e-9 * nthreads * mr * nr * kc * TIMES / (now() - start);
}

int main(void) {
    double *a[nthreads], *b[nthreads], *c = array((size_t)SIDE * SIDE);
    memset(c, 0, sizeof *c * SIDE * SIDE);
    for (int t = 0; t < nthreads; t++) {
        a[t] = array(1 << 20);
        b[t] = array(1 << 20);
        for (int i = 0; i < 1 << 20; i++) a[t][i] = b[t][i] = 1e-3 * (i % 7 - 3);
    }
    for (int round = 0; round < 3; round++)
        printf("Gflop/s: all in level 1 %.1f; A from level 2 %.1f; and C from memory %.1f\n",
               rate(1, 1, 0, a, b, c), rate(12, 1, 0, a, b, c), rate(12, 1, 1, a, b, c));
    return 0;
}
