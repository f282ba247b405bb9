// Pinning of the threads of a kernel. The process that runs it names the CPUs in the environment: in the order of cores, and
// one of each NUMA node in turn.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <omp.h>
#include <sched.h>
#include <stdlib.h>

enum { NOT_PINNED, COMPACT, BALANCED, SCATTER };

// The CPUs of a list such as 0,2,1; at most so many.
static int cpus_of(const char *name, int *cpus, int most) {
    const char *text = getenv(name);
    int n = 0;
    while (text && *text && n < most) {
        char *end;
        cpus[n++] = (int)strtol(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return n;
}

// Pins the calling thread, one of count. Without a list, and where it is not permitted, it stays as it is. The threads stay
// for later kernels of the process: one that pins none frees them.
static void pin_thread(int order, int thread, int count) {
#ifdef __linux__
    enum { MOST = CPU_SETSIZE };
    int cpus[MOST];
    const int n = cpus_of(order == SCATTER ? "GREENUP_CPUS_SCATTER" : "GREENUP_CPUS_COMPACT", cpus, MOST);
    if (n == 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (order == NOT_PINNED) {
        for (int i = 0; i < n; i++) CPU_SET(cpus[i], &set);
    } else {
        const int place = order == BALANCED && count <= n ? (int)((long)thread * n / count) : thread % n;
        CPU_SET(cpus[place], &set);
    }
    sched_setaffinity(0, sizeof set, &set);
#else
    (void)order, (void)thread, (void)count;
#endif
}
