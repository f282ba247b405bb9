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

// Sorted by keys, as in a tree.
static void of_leaf(point *points, const int *at, uint64_t *state) {
    for (int p = 0; p < ncrit; p++) {
        points[p].key = 0;
        for (int a = 0; a < 3; a++) {
            const double in = next(state);
            points[p].at[a] = (real)((at[a] + in) / side);
            for (int b = 0; b < 10; b++) points[p].key |= ((uint32_t)(in * 1024) >> b & 1) << (3 * b + a);
        }
    }
    qsort(points, ncrit, sizeof(point), by_key);
}

// Leaf (i, j, k) has the points k + side (j + side i) of `ncrit` each. Its ranges: its points, then three leaves along
// the last axis at a time, without itself.
void points(real *positions, real *x, real *y, real *z, int32_t *ranges, int32_t *counts, real *out) {
    (void)out;
    uint64_t state = 12345;
    point sorted[ncrit];
    for (int leaf = 0; leaf < leaves; leaf++) {
        const int at[3] = {leaf / side / side, leaf / side % side, leaf % side};
        of_leaf(sorted, at, &state);
        for (int p = leaf * ncrit; p < (leaf + 1) * ncrit; p++) {
            x[p] = sorted[p - leaf * ncrit].at[0], y[p] = sorted[p - leaf * ncrit].at[1], z[p] = sorted[p - leaf * ncrit].at[2];
            positions[4 * p] = x[p], positions[4 * p + 1] = y[p], positions[4 * p + 2] = z[p];
            positions[4 * p + 3] = (real)(2 * next(&state) - 1);
        }
        int n = 0;
        int32_t *r = ranges + 24 * leaf;
        r[0] = leaf * ncrit, r[1] = (leaf + 1) * ncrit, n = 1;
        for (int i = at[0] - 1; i <= at[0] + 1; i++)
            for (int j = at[1] - 1; j <= at[1] + 1; j++) {
                if (i < 0 || j < 0 || i >= side || j >= side) continue;
                const int low = at[2] > 0 ? at[2] - 1 : 0, high = at[2] < side - 1 ? at[2] + 1 : at[2];
                const int line = (i * side + j) * side;
                if (i == at[0] && j == at[1]) {
                    if (low < at[2]) r[2 * n] = (line + low) * ncrit, r[2 * n + 1] = (line + at[2]) * ncrit, n++;
                    if (high > at[2]) r[2 * n] = (line + high) * ncrit, r[2 * n + 1] = (line + high + 1) * ncrit, n++;
                } else {
                    r[2 * n] = (line + low) * ncrit, r[2 * n + 1] = (line + high + 1) * ncrit, n++;
                }
            }
        counts[leaf] = n;
    }
}

enum { THREADS_HERE = 16 };

typedef struct {
    int rank;
    const real *positions, *x, *y, *z;
    const int32_t *ranges, *counts;
    real *out;
} task;

static void *some(void *given) {
    const task *k = given;
    const real *positions = k->positions;
    for (int leaf = k->rank; leaf < leaves; leaf += THREADS_HERE)
        for (int t = leaf * ncrit; t < (leaf + 1) * ncrit; t++) {
            wide sum = 0;
            for (int r = 0; r < k->counts[leaf]; r++)
                for (int s = k->ranges[24 * leaf + 2 * r]; s < k->ranges[24 * leaf + 2 * r + 1]; s++) {
                    const wide dx = (wide)k->x[t] - positions[4 * s], dy = (wide)k->y[t] - positions[4 * s + 1],
                               dz = (wide)k->z[t] - positions[4 * s + 2], r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 > 0) sum += positions[4 * s + 3] / (sizeof(wide) > 8 ? (wide)sqrtl(r2) : (wide)sqrt((double)r2));
                }
            k->out[t] = (real)sum;
        }
    return 0;
}

void sums(const real *positions, const real *x, const real *y, const real *z, const int32_t *ranges, const int32_t *counts,
          real *out) {
    task tasks[THREADS_HERE];
    pthread_t threads[THREADS_HERE];
    for (int i = 0; i < THREADS_HERE; i++) {
        tasks[i] = (task){i, positions, x, y, z, ranges, counts, out};
        if (pthread_create(&threads[i], 0, some, &tasks[i])) threads[i] = 0, some(&tasks[i]);
    }
    for (int i = 0; i < THREADS_HERE; i++)
        if (threads[i]) pthread_join(threads[i], 0);
}
