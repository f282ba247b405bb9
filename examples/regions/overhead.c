/* What a begin/end pair costs: median and range of 31 runs, in ns, with one thread and with two.
 *
 *   cc -O2 -pthread overhead.c -I../../crates/regions/include -L../../target/release -lgreenup_regions -o overhead
 *   LD_LIBRARY_PATH=../../target/release ./overhead [pairs of a run]
 */
#include "greenup.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 31, NAMES = 1000 };
static long pairs = 200000;
static char names[NAMES][16];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void one(long n) {
    for (long i = 0; i < n; i++) {
        greenup_region_begin("region");
        greenup_region_end("region");
    }
}

/* Two levels below another region. */
static void nested(long n) {
    greenup_region_begin("outer");
    greenup_region_begin("middle");
    one(n);
    greenup_region_end("middle");
    greenup_region_end("outer");
}

/* A thousand regions, each another one than the last. */
static void many(long n) {
    for (long i = 0; i < n; i++) {
        const char *name = names[(i * 7) % NAMES];
        greenup_region_begin(name);
        greenup_region_end(name);
    }
}

static void clock_alone(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += now() - now();
    if (sum > 1)
        puts("?");
}

struct job {
    void (*work)(long);
    double seconds;
    pthread_barrier_t *start;
};

static void *timed(void *p) {
    struct job *job = p;
    pthread_barrier_wait(job->start);
    double from = now();
    job->work(pairs);
    job->seconds = now() - from;
    return NULL;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *what, void (*work)(long), int threads) {
    double ns[RUNS];
    for (int r = -1; r < RUNS; r++) { /* the first run warms up */
        pthread_barrier_t start;
        pthread_barrier_init(&start, NULL, threads);
        pthread_t t[2];
        struct job jobs[2];
        for (int i = 0; i < threads; i++) {
            jobs[i] = (struct job){work, 0, &start};
            pthread_create(&t[i], NULL, timed, &jobs[i]);
        }
        double sum = 0;
        for (int i = 0; i < threads; i++) {
            pthread_join(t[i], NULL);
            sum += jobs[i].seconds;
        }
        if (r >= 0)
            ns[r] = sum / threads / pairs * 1e9;
    }
    qsort(ns, RUNS, sizeof *ns, ascending);
    printf("%-24s %d thread%s  median %7.1f ns  quartiles %7.1f %7.1f  range %7.1f %7.1f\n", what, threads,
           threads > 1 ? "s" : " ", ns[RUNS / 2], ns[RUNS / 4], ns[3 * RUNS / 4], ns[0], ns[RUNS - 1]);
}

int main(int argc, char **argv) {
    if (argc > 1)
        pairs = atol(argv[1]);
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof names[i], "region %d", i);
    greenup_region_begin("start"); /* opens the sensors */
    greenup_region_end("start");
    printf("energy sensors: %d\n", greenup_available());
    for (int threads = 1; threads <= 2; threads++) {
        measure("two clock readings", clock_alone, threads);
        measure("pair", one, threads);
        measure("pair, two levels below", nested, threads);
        measure("pair, 1000 names", many, threads);
    }
    return 0;
}
