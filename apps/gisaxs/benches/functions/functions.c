// Our vectorised exponential, sine and cosine, and the kernel with them, against those of a vector library (glibc's libmvec):
// nanoseconds an element, and errors. Prints JSON. VBYTES (32 or 64) and BITS (32 or 64) as of direct.c; functions.sh runs all.

#define ISA here
#include "../../src/kernels/direct.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if VBYTES == 64 && BITS == 32
#define LIBRARY(name) _ZGVeN16v_##name##f
#elif VBYTES == 64
#define LIBRARY(name) _ZGVeN8v_##name
#elif BITS == 32
#define LIBRARY(name) _ZGVdN8v_##name##f
#else
#define LIBRARY(name) _ZGVdN4v_##name
#endif
v LIBRARY(exp)(v), LIBRARY(exp2)(v), LIBRARY(sin)(v), LIBRARY(cos)(v);
void by_compiler(long, const float *, const float *, const float *, const float *, long, const float *, double *, long, int);

enum { N = 2048, ROUNDS = 15 };
static const double TAU = 6.283185307179586476925;
static real in[N] __attribute__((aligned(64))), one[N] __attribute__((aligned(64))), two[N] __attribute__((aligned(64)));

static double now(void) {
    struct timespec t;
    // Of this thread: others on the core do not count.
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int rising(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

enum { OUR_BOTH, LIB_BOTH, OUR_EXP2, LIB_EXP2, LIB_EXP, KINDS };
static const char *const NAMES[KINDS] = {"sine and cosine, ours",      "sine and cosine, library",
                                         "exponential of 2, ours", "exponential of 2, library", "exponential of e, library"};

#define EACH(statement)                         \
    for (long i = 0; i < N; i += LANES) {       \
        v x = *(v *)(in + i), a, b = x - x;     \
        statement;                              \
        *(v *)(one + i) = a;                    \
        *(v *)(two + i) = b;                    \
    }

static void run(int kind) {
    switch (kind) {
    case OUR_BOTH: EACH(turn(x, &a, &b)) break;
    // Its function of both scatters its results: slower than both functions.
    case LIB_BOTH: EACH(a = LIBRARY(sin)(x); b = LIBRARY(cos)(x)) break;
    case OUR_EXP2: EACH(a = power(x)) break;
    case LIB_EXP2: EACH(a = LIBRARY(exp2)(x)) break;
    case LIB_EXP: EACH(a = LIBRARY(exp)(x)) break;
    }
    __asm__ volatile("" ::: "memory");
}

// Distance in units in the last place of the exact value.
static double ulps(real got, long double exact) {
    int e;
    frexpl(exact, &e);
    const int digits = BITS == 32 ? 24 : 53;
    return (double)(fabsl(got - exact) / ldexpl(1.0L, e - digits));
}

static void errors(int kind, double *ulp, double *absolute) {
    *ulp = *absolute = 0;
    run(kind);
    for (long i = 0; i < N; i++) {
        const long double x = in[i], two_pi = 6.283185307179586476925286766559L;
        const int both = kind <= LIB_BOTH;
        const long double p = kind == OUR_BOTH ? two_pi * x : x;
        const long double exact = both ? sinl(p) : kind == LIB_EXP ? expl(x) : exp2l(x);
        double u = ulps(one[i], exact), a = (double)fabsl(one[i] - exact);
        if (!both) a = (double)(fabsl(one[i] - exact) / exact);
        if (both) {
            const double w = ulps(two[i], cosl(p)), b = (double)fabsl(two[i] - cosl(p));
            u = w > u ? w : u;
            a = b > a ? b : a;
        }
        *ulp = u > *ulp ? u : *ulp;
        *absolute = a > *absolute ? a : *absolute;
    }
}

// Phases of up to eight turns, exponents of 2 from -20 to 0: those of a particle of 20 nm.
static void fill(int kind, unsigned long seed) {
    for (long i = 0; i < N; i++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        const double u = (double)(seed >> 11) * 0x1p-53;
        const double turns = 16 * u - 8, exponent = -20 * u;
        in[i] = (real)(kind == OUR_BOTH    ? turns
                       : kind <= LIB_BOTH ? TAU * turns
                       : kind == LIB_EXP     ? 0.6931471805599453 * exponent
                                             : exponent);
    }
}

#if BITS == 32
static void kernels(void) {
    enum { POINTS = 4096, NODES = 512 };
    static float q[4][POINTS], node[8 * NODES];
    static double sums[2][6 * POINTS];
    unsigned long seed = 7;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < POINTS; i++) {
            seed = seed * 6364136223846793005UL + 1442695040888963407UL;
            q[k][i] = (float)((seed >> 40) * 0x1p-24 * (k == 3 ? -0.02 : 0.4));
        }
    for (int i = 0; i < 8 * NODES; i++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        node[i] = (float)((seed >> 40) * 0x1p-24 * 20 - 10);
    }
    for (int damped = 0; damped < 2; damped++) {
        double times[2][ROUNDS];
        for (int r = 0; r < ROUNDS; r++)
            for (int by = 0; by < 2; by++) {
                memset(sums[by], 0, sizeof sums[by]);
                const double start = now();
                if (by == 0)
                    NAME(direct, ISA, BITS)(POINTS, q[0], q[1], q[2], q[3], NODES, node, sums[0], POINTS, damped, 0, 2);
                else
                    by_compiler(POINTS, q[0], q[1], q[2], q[3], NODES, node, sums[1], POINTS, damped);
                times[by][r] = (now() - start) / ((double)POINTS * NODES);
            }
        double off = 0, top = 0;
        for (int i = 0; i < 6 * POINTS; i++) {
            off = fmax(off, fabs(sums[0][i] - sums[1][i]));
            top = fmax(top, fabs(sums[1][i]));
        }
        for (int by = 0; by < 2; by++) {
            qsort(times[by], ROUNDS, sizeof(double), rising);
            printf(",\n  {\"name\": \"kernel, q_z %s, %s\", \"ns\": %.4f, \"shortest_ns\": %.4f, \"longest_ns\": %.4f, \"difference\": %.2e}",
                   damped ? "complex" : "real", by ? "by the compiler with the library" : "ours", 1e9 * times[by][ROUNDS / 2],
                   1e9 * times[by][0], 1e9 * times[by][ROUNDS - 1], off / top);
        }
    }
}
#endif

int main(void) {
    printf("{\"vector_bytes\": %d, \"bits\": %d, \"rows\": [\n", VBYTES, BITS);
    double times[KINDS][ROUNDS];
    for (int r = -1; r < ROUNDS; r++)
        for (int kind = 0; kind < KINDS; kind++) {
            fill(kind, 1);
            enum { REPEATS = 4000 };
            const double start = now();
            for (int n = 0; n < REPEATS; n++) run(kind);
            if (r >= 0) times[kind][r] = (now() - start) / ((double)REPEATS * N);
        }
    for (int kind = 0; kind < KINDS; kind++) {
        double worst = 0, absolute = 0;
        for (unsigned long seed = 1; seed <= 500; seed++) {
            double u, a;
            fill(kind, seed);
            errors(kind, &u, &a);
            worst = u > worst ? u : worst;
            absolute = a > absolute ? a : absolute;
        }
        qsort(times[kind], ROUNDS, sizeof(double), rising);
        printf("%s  {\"name\": \"%s\", \"ns\": %.4f, \"shortest_ns\": %.4f, \"longest_ns\": %.4f, \"ulp\": %.3g, \"%s\": %.3g}",
               kind ? ",\n" : "", NAMES[kind], 1e9 * times[kind][ROUNDS / 2], 1e9 * times[kind][0], 1e9 * times[kind][ROUNDS - 1], worst,
               kind <= LIB_BOTH ? "absolute" : "relative", absolute);
    }
#if BITS == 32
    kernels();
#endif
    printf("\n]}\n");
    return 0;
}
