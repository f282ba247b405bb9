/* One of the commands of the Python package. All code is in the native module beside this folder, which is loaded here
 * without Python; so the wheel holds it once. STUBS defines the symbols that the module expects of an interpreter: none of
 * them is used outside of one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STUB(name) char name[16];
#include STUBS

int main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    char own[PATH_MAX], file[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n < 0) {
        perror("the program's own file is unknown");
        return 1;
    }
    own[n] = 0;
    char *slash = strrchr(own, '/');
    *slash = 0;
    snprintf(file, sizeof file, "%s/../_native.abi3.so", own);
    void *library = dlopen(file, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "error: %s\nhint: install the package greenup again\n", dlerror());
        return 1;
    }
    int (*command)(const char *) = (int (*)(const char *))dlsym(library, "greenup_command");
    if (!command) {
        fprintf(stderr, "error: %s\n", dlerror());
        return 1;
    }
    /* As Rust programs have it: writing to a closed pipe is an error, not the end. */
    signal(SIGPIPE, SIG_IGN);
    return command(slash + 1);
}
