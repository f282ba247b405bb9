// Points in a cube of leaves, and their sums in higher precision.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#if elem == 0
typedef float real;
typedef double wide;
#else
typedef double real;
typedef long double wide;
#endif

static double next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

typedef struct {
    uint32_t key;
    real at[3];
} point;

static int by_key(const void *a, const void *b) {
    const uint32_t x = ((const point *)a)->key, y = ((const point *)b)->key;
    return x < y ? -1 : x > y;
}

// In the order of keys, as a tree leaves them.
static void of_leaf(point *points, const int *at, uint64_t *state) {
    for (int p = 0; p < most; p++) {
        points[p].key = 0;
        for (int a = 0; a < 3; a++) {
            const double in = next(state);
            points[p].at[a] = (real)((at[a] + in) / side);
            for (int b = 0; b < 10; b++) points[p].key |= ((uint32_t)(in * 1024) >> b & 1) << (3 * b + a);
        }
    }
    qsort(points, most, sizeof(point), by_key);
}

// Leaf (i, j, k) has the points k + side (j + side i) of `most` each. Its ranges: its own, then three leaves along the
// last axis at a time, without itself.
void points(real *places, real *x, real *y, real *z, int32_t *ranges, int32_t *counts, real *out) {
    (void)out;
    uint64_t state = 12345;
    point own[most];
    for (int leaf = 0; leaf < leaves; leaf++) {
        const int at[3] = {leaf / side / side, leaf / side % side, leaf % side};
        of_leaf(own, at, &state);
        for (int p = leaf * most; p < (leaf + 1) * most; p++) {
            x[p] = own[p - leaf * most].at[0], y[p] = own[p - leaf * most].at[1], z[p] = own[p - leaf * most].at[2];
            places[4 * p] = x[p], places[4 * p + 1] = y[p], places[4 * p + 2] = z[p];
            places[4 * p + 3] = (real)(2 * next(&state) - 1);
        }
        int n = 0;
        int32_t *r = ranges + 24 * leaf;
        r[0] = leaf * most, r[1] = (leaf + 1) * most, n = 1;
        for (int i = at[0] - 1; i <= at[0] + 1; i++)
            for (int j = at[1] - 1; j <= at[1] + 1; j++) {
                if (i < 0 || j < 0 || i >= side || j >= side) continue;
                const int low = at[2] > 0 ? at[2] - 1 : 0, high = at[2] < side - 1 ? at[2] + 1 : at[2];
                const int line = (i * side + j) * side;
                if (i == at[0] && j == at[1]) {
                    if (low < at[2]) r[2 * n] = (line + low) * most, r[2 * n + 1] = (line + at[2]) * most, n++;
                    if (high > at[2]) r[2 * n] = (line + high) * most, r[2 * n + 1] = (line + high + 1) * most, n++;
                } else {
                    r[2 * n] = (line + low) * most, r[2 * n + 1] = (line + high + 1) * most, n++;
                }
            }
        counts[leaf] = n;
    }
}

enum { THREADS_HERE = 16 };

typedef struct {
    int rank;
    const real *places, *x, *y, *z;
    const int32_t *ranges, *counts;
    real *out;
} task;

static void *some(void *given) {
    const task *k = given;
    const real *places = k->places;
    for (int leaf = k->rank; leaf < leaves; leaf += THREADS_HERE)
        for (int t = leaf * most; t < (leaf + 1) * most; t++) {
            wide sum = 0;
            for (int r = 0; r < k->counts[leaf]; r++)
                for (int s = k->ranges[24 * leaf + 2 * r]; s < k->ranges[24 * leaf + 2 * r + 1]; s++) {
                    const wide dx = (wide)k->x[t] - places[4 * s], dy = (wide)k->y[t] - places[4 * s + 1],
                               dz = (wide)k->z[t] - places[4 * s + 2], r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 > 0) sum += places[4 * s + 3] / (sizeof(wide) > 8 ? (wide)sqrtl(r2) : (wide)sqrt((double)r2));
                }
            k->out[t] = (real)sum;
        }
    return 0;
}

void sums(const real *places, const real *x, const real *y, const real *z, const int32_t *ranges, const int32_t *counts,
          real *out) {
    task tasks[THREADS_HERE];
    pthread_t threads[THREADS_HERE];
    for (int i = 0; i < THREADS_HERE; i++) {
        tasks[i] = (task){i, places, x, y, z, ranges, counts, out};
        if (pthread_create(&threads[i], 0, some, &tasks[i])) threads[i] = 0, some(&tasks[i]);
    }
    for (int i = 0; i < THREADS_HERE; i++)
        if (threads[i]) pthread_join(threads[i], 0);
}
