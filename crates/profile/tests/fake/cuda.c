/* A stand-in for a program with the CUDA driver: loads the library that CUDA_INJECTION64_PATH names, as cuInit does.
 *
 * Arguments: seconds to run, and how to end: return, _exit, kill, fork, pthread_exit; or closing: it closes all descriptors and
 * writes the file that FILE names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <signal.h>

int main(int count, char **arguments) {
    double seconds = count > 1 ? atof(arguments[1]) : 0.5;
    const char *end = count > 2 ? arguments[2] : "return";
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (path) {
        void *library = dlopen(path, RTLD_NOW);
        int (*start)(void) = NULL;
        if (library) *(void **)&start = dlsym(library, "InitializeInjection");
        if (!start) {
            fprintf(stderr, "%s\n", dlerror());
            return 9;
        }
        start();
    }
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    int user = -1;
    if (strcmp(end, "closing") == 0) {
        for (int fd = 3; fd < 5000; fd++) close(fd);
        user = open(getenv("FILE"), O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (write(user, "BEGIN", 5) != 5) return 8;
        int numbers[] = {924, 925, 4096, 4097};
        for (int k = 0; k < 4; k++) fcntl(user, F_DUPFD, numbers[k]);
    }
    if (strcmp(end, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            nanosleep(&t, NULL);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    nanosleep(&t, NULL);
    if (user >= 0 && write(user, "END", 3) != 3) return 8;
    printf("done\n");
    fflush(stdout);
    if (strcmp(end, "pthread_exit") == 0) pthread_exit(NULL);
    if (strcmp(end, "_exit") == 0) _exit(0);
    if (strcmp(end, "kill") == 0) raise(SIGKILL);
    return 0;
}
