/* Doubles an array; `how` says which harm it does beside that. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int calls;

/* A process that lives for ever, in a session of its own and without a parent if `far`. */
static void leave(int far) {
    if (fork()) return;
    if (far) {
        setsid();
        if (fork()) _exit(0);
    }
    for (;;) sleep(1000);
}

/* Answers of a worker, to every descriptor that there may be. */
static void forge(void) {
    const char *text =
        "\n{\"Verified\":{\"error\":0.0,\"seconds\":0.0}}\n{\"Measured\":{\"times_s\":[1e-9,1e-9,1e-9],"
        "\"energy_j\":null,\"time_error\":0.0,\"flags\":[],\"state\":{},\"baseline_s\":[],\"baseline_j\":null}}\n"
        "\"Done\"\n";
    for (int i = 0; i < 40000; i++) {
        if (write(i, text, strlen(text)) < 0) continue;
    }
}

void twice(double *out, const double *in) {
    calls++;
#if how == 5
    if (calls > 1) return;
#endif
    for (long i = 0; i < size; i++) out[i] = 2.0 * in[i];
#if how == 1
    leave(0);
    *(volatile int *)8 = 1;
#elif how == 2
    if (calls == 1) leave(1);
#elif how == 3
    forge();
    out[3] += 1;
#elif how == 4
    forge();
    _exit(0);
#elif how == 6
    out[size + 599] = 1.0;
#elif how == 7
    out[-600] = 1.0;
#elif how == 8
    out[size + 20000] = 1.0;
#elif how == 9
    *(volatile double *)&in[size + 20];
#elif how == 10
    syscall(SYS_close_range, 0u, ~0u, 0u);
#elif how == 11
    leave(1);
    _exit(3);
#elif how == 12
    leave(0);
    kill(getppid(), SIGKILL);
    for (;;) sleep(1000);
#elif how == 14
    leave(1);
    for (;;) sleep(1000);
#elif how == 13
    for (int i = 0; i < 100 && calls == 1; i++) {
        for (int k = 0; k < 2000; k++) fputs("noise ", k % 2 ? stdout : stderr);
        write(1, "x", 1);
        write(2, "y", 1);
    }
#endif
}
