/* What programs do to regions; `cases NAME [number]`. Built by tests/regions. */
#define _GNU_SOURCE
#include "greenup.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void busy(double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double until = t.tv_sec + 1e-9 * t.tv_nsec + seconds;
    do
        clock_gettime(CLOCK_MONOTONIC, &t);
    while (t.tv_sec + 1e-9 * t.tv_nsec < until);
}

static void in(const char *name, double seconds) {
    greenup_region_begin(name);
    busy(seconds);
    greenup_region_end(name);
}

static void *thread(void *name) {
    in(name, 0.0001);
    return NULL;
}

static void *left_open(void *name) {
    greenup_region_begin(name);
    return NULL;
}

static atomic_int rounds; /* of all that go on forever */

static void *forever(void *name) {
    for (;;) {
        in(name, 0.00001);
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

static volatile sig_atomic_t signals;

static void handler(int signal) {
    (void)signal;
    signals++;
    greenup_region_begin("handler");
    greenup_region_end("handler");
}

static void recurse(long depth) {
    GREENUP_REGION("r");
    if (depth > 1)
        recurse(depth - 1);
}

static void nested(void) {
    for (int i = 0; i < 3; i++) {
        greenup_region_begin("outer");
        in("inner", 0.002);
        in("inner", 0.002);
        busy(0.002);
        greenup_region_end("outer");
    }
}

static void mismatched(void) {
    greenup_region_end("never");
    greenup_region_begin("a");
    greenup_region_begin("b");
    greenup_region_begin("c");
    greenup_region_end("a"); /* ends c and b too */
    greenup_region_end("b");
    greenup_region_begin("open");
}

static void names(void) {
    static char big[100000];
    memset(big, 'x', sizeof big - 1);
    in("with \"quotes\" and \\", 0);
    in("größe λ 漢字 🚀", 0);
    in("", 0);
    in("\x1b[31mred\n", 0);
    in("\xff\xfe", 0);
    in(big, 0);
    greenup_region_begin(NULL);
    greenup_region_end(NULL);
}

static void threads(long n) {
    for (long i = 0; i < n; i += 50) {
        pthread_t t[50];
        for (int k = 0; k < 50; k++)
            pthread_create(&t[k], NULL, thread, "short");
        for (int k = 0; k < 50; k++)
            pthread_join(t[k], NULL);
    }
    pthread_t t;
    pthread_create(&t, NULL, left_open, "left open");
    pthread_join(t, NULL);
}

static void forks(void) {
    greenup_region_begin("before");
    busy(0.002);
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            in("in child", 0.002);
            greenup_region_end("before");
            if (i == 3)
                _exit(0); /* nothing is written */
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    in("in parent", 0.002);
    greenup_region_end("before");
}

/* Forks while other threads are within the library. */
static void fork_storm(long n) {
    pthread_t t;
    for (int i = 0; i < 2; i++)
        pthread_create(&t, NULL, forever, "other thread");
    for (long i = 0; i < n; i++) {
        pid_t child = fork();
        if (child == 0) {
            in("child", 0.0001);
            exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (status != 0)
            exit(9);
    }
}

/* Forks while another thread opens the output for its first region: a pipe that nobody reads. */
static void fork_at_start(const char *file) {
    pthread_t t;
    pthread_create(&t, NULL, thread, "other thread");
    busy(0.2);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        setenv("GREENUP_REGIONS_FILE", file, 1);
        in("child", 0.002);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    _exit(status != 0);
}

static void exiting(int signal) {
    (void)signal;
    exit(0);
}

/* Exits by a signal handler, most likely within a begin or end. */
static void exit_in_handler(void) {
    signal(SIGALRM, exiting);
    /* One is collected, however late the thread of the library comes. */
    greenup_region_begin("loop");
    greenup_region_end("loop");
    greenup_flush();
    struct itimerval once = {{0, 0}, {0, 30000}};
    setitimer(ITIMER_REAL, &once, NULL);
    for (;;) {
        greenup_region_begin("loop");
        greenup_region_end("loop");
    }
}

static void interrupted(void) {
    signal(SIGALRM, handler);
    struct itimerval every = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &every, NULL);
    for (long i = 0; i < 3000000; i++) {
        greenup_region_begin("loop");
        greenup_region_end("loop");
    }
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    fprintf(stderr, "signals %d\n", (int)signals);
}

static void second_library(const char *path, int stay) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(8);
    }
    void (*begin)(const char *), (*end)(const char *);
    *(void **)&begin = dlsym(library, "greenup_region_begin");
    *(void **)&end = dlsym(library, "greenup_region_end");
    for (int i = 0; i < 10; i++) {
        begin("of the second");
        busy(0.001);
        end("of the second");
    }
    if (!stay && dlclose(library) != 0)
        exit(7);
    busy(0.2); /* its thread goes on */
}

/* As daemons do: closes descriptors from `first` on, and opens files of its own at all numbers. */
static void closing(int first) {
    in("before", 0.002);
    for (int fd = first; fd < 5000; fd++)
        close(fd);
    int f = open("user.bin", O_RDWR | O_CREAT | O_TRUNC, 0644), high;
    write(f, "BEGIN\n", 6);
    int numbers[] = {2, 50, 924, 925, 926, 4096, 4097, 4098};
    for (int i = 0; i < 8; i++)
        if (numbers[i] >= first && numbers[i] != f && (high = fcntl(f, F_DUPFD, numbers[i])) >= 0 && high != numbers[i])
            close(high);
    for (int i = 0; i < 5; i++)
        in("after", 0.02);
    busy(0.2);
    greenup_flush();
    write(f, "END\n", 4);
}

static void *late(void *name) {
    usleep(300000);
    in(name, 0.002);
    return NULL;
}

/* The main thread leaves, another one works on. */
static void main_leaves(void) {
    pthread_t t;
    pthread_create(&t, NULL, late, "late");
    in("main", 0.002);
    pthread_exit(NULL);
}

static void *many(void *name) {
    for (int i = 0; i < 40000; i++) {
        greenup_region_begin(name);
        greenup_region_end(name);
    }
    return NULL;
}

/* All of the library's work starts in a thread with the smallest stack. */
static void small_stack(void) {
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16384);
    pthread_t t;
    if (pthread_create(&t, &a, many, "small") != 0)
        exit(6);
    pthread_join(t, NULL);
}

static void *cancelled(void *name) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    atomic_fetch_add(&rounds, 1);
    while (atomic_load(&rounds) < 2)
        ;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (;;) { /* the cancellation is pending already */
        in(name, 0.0001);
        greenup_flush();
        if (greenup_available() >= 0)
            pthread_testcancel();
    }
    return NULL;
}

static void cancel(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, cancelled, "cancelled");
    while (atomic_load(&rounds) < 1)
        ;
    pthread_cancel(t);
    atomic_fetch_add(&rounds, 1);
    pthread_join(t, &result);
    if (result != PTHREAD_CANCELED)
        exit(5);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const char *more = argc > 2 ? argv[2] : "";
    long n = atol(more);
    if (!strcmp(what, "nested"))
        nested();
    else if (!strcmp(what, "mismatched"))
        mismatched();
    else if (!strcmp(what, "names"))
        names();
    else if (!strcmp(what, "thousands"))
        for (long i = 0; i < n; i++) {
            char name[32];
            snprintf(name, sizeof name, "region %ld", i);
            in(name, 0);
        }
    else if (!strcmp(what, "deep"))
        recurse(n);
    else if (!strcmp(what, "threads"))
        threads(n);
    else if (!strcmp(what, "fork"))
        forks();
    else if (!strcmp(what, "closing"))
        closing((int)n);
    else if (!strcmp(what, "main-leaves"))
        main_leaves();
    else if (!strcmp(what, "small-stack"))
        small_stack();
    else if (!strcmp(what, "cancel"))
        cancel();
    else if (!strcmp(what, "fork-storm"))
        fork_storm(n);
    else if (!strcmp(what, "fork-at-start"))
        fork_at_start(more);
    else if (!strcmp(what, "signals"))
        interrupted();
    else if (!strcmp(what, "exit-in-handler"))
        exit_in_handler();
    else if (!strcmp(what, "pairs")) {
        struct rusage first, last;
        in("pair", 0.05); /* sensors are open, and the thread of the library runs */
        getrusage(RUSAGE_SELF, &first);
        for (long i = 1; i < n; i++) {
            greenup_region_begin("pair");
            greenup_region_end("pair");
        }
        getrusage(RUSAGE_SELF, &last);
        printf("%ld\n", last.ru_maxrss - first.ru_maxrss);
    } else if (!strcmp(what, "regions")) /* until it is killed, or that many */
        for (long i = 0; n == 0 || i < n; i++)
            in("region", 0.001);
    else if (!strcmp(what, "other-thread-at-exit")) {
        pthread_t t;
        pthread_create(&t, NULL, forever, "other thread");
        greenup_region_begin("main");
        while (atomic_load(&rounds) < 20)
            busy(0.001);
        greenup_region_end("main");
    } else if (!strcmp(what, "dlclose"))
        second_library(more, 0);
    else if (!strcmp(what, "second")) {
        in("of the first", 0.002);
        second_library(more, 1);
    } else if (!strcmp(what, "flush")) {
        in("a", 0.002);
        int code = greenup_flush();
        in("b", 0.002);
        printf("%d %d\n", code, greenup_available());
    } else if (!strcmp(what, "abort")) {
        for (int i = 0; i < 300; i++)
            in("region", 0.001);
        abort();
    } else if (!strcmp(what, "_exit")) {
        for (int i = 0; i < 300; i++)
            in("region", 0.001);
        _exit(3);
    } else if (!strcmp(what, "phases")) /* one second: 30 ms in one region, 10 ms in another, 10 ms in none */
        for (int i = 0; i < 20; i++) {
            in("long", 0.03);
            for (int k = 0; k < 10; k++)
                in("short", 0.001);
            busy(0.01);
        }
    else
        return 2;
    return 0;
}
