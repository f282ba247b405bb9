/* A stand-in for a program with the CUDA driver: loads the library that CUDA_INJECTION64_PATH names, as cuInit does.
 *
 * Arguments: seconds to run, and how to end: return, _exit, kill, fork. */
#include <dlfcn.h>
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
    if (strcmp(end, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            nanosleep(&t, NULL);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    nanosleep(&t, NULL);
    printf("done\n");
    fflush(stdout);
    if (strcmp(end, "_exit") == 0) _exit(0);
    if (strcmp(end, "kill") == 0) raise(SIGKILL);
    return 0;
}
