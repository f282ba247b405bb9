/* cuBLAS and the driver, found at run time: handle, arrays of pointers, streams. For the baselines of these problems. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* As cublasOperation_t. */
enum { AS_IT_IS = 0, TRANSPOSED = 1 };
/* Streams that share the calls, when each matrix has a call of its own. */
enum { STREAMS = 32 };

typedef long long Step;
typedef int (*gemm_one_t)(void *, int, int, int, int, int, const double *, const double *, int, const double *, int,
                          const double *, double *, int);
typedef int (*gemm_pointers_t)(void *, int, int, int, int, int, const double *, const double *const *, int,
                               const double *const *, int, const double *, double *const *, int, int);
typedef int (*gemm_steps_t)(void *, int, int, int, int, int, const double *, const double *, int, Step, const double *,
                            int, Step, const double *, double *, int, Step, int);
typedef int (*gemv_one_t)(void *, int, int, int, const double *, const double *, int, const double *, int,
                          const double *, double *, int);
typedef int (*gemv_steps_t)(void *, int, int, int, const double *, const double *, int, Step, const double *, int, Step,
                            const double *, double *, int, Step, int);

static const double one = 1, zero = 0;
static void *cublas_handle, *cublas_stream;
static int (*set_stream)(void *, void *);

static void failed(const char *what, int status) {
    fprintf(stderr, "%s failed with status %d\n", what, status);
    exit(1);
}

static void *library(const char *const *names) {
    for (; *names; names++) {
        void *found = dlopen(*names, RTLD_NOW);
        if (found) return found;
    }
    fprintf(stderr, "a library is missing: %s\n", dlerror());
    exit(1);
}

static void *of_library(void *from, const char *name) {
    void *symbol = dlsym(from, name);
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return symbol;
}

static void *of_cublas(const char *name) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", 0};
    static void *found;
    if (!found) found = library(names);
    return of_library(found, name);
}

static void *of_driver(const char *name) {
    static const char *const names[] = {"libcuda.so.1", 0};
    static void *found;
    if (!found) found = library(names);
    return of_library(found, name);
}

/* A handle whose work goes to the stream. */
static void *handle_on(void *stream) {
    if (!cublas_handle) {
        int (*create)(void **) = (int (*)(void **))of_cublas("cublasCreate_v2");
        set_stream = (int (*)(void *, void *))of_cublas("cublasSetStream_v2");
        const int status = create(&cublas_handle);
        if (status) failed("cublasCreate", status);
    }
    if (cublas_stream != stream) {
        const int status = set_stream(cublas_handle, stream);
        if (status) failed("cublasSetStream", status);
        cublas_stream = stream;
    }
    return cublas_handle;
}

/* Addresses of `many` matrices with a step of so many numbers, in the GPU's memory; made again when the first moves. */
typedef struct {
    const double *first;
    uint64_t at;
} Pointers;

static inline void *pointers(Pointers *p, const double *first, Step step, int64_t many) {
    if (p->first == first) return (void *)(uintptr_t)p->at;
    int (*alloc)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))of_driver("cuMemAlloc_v2");
    int (*upload)(uint64_t, const void *, size_t) =
        (int (*)(uint64_t, const void *, size_t))of_driver("cuMemcpyHtoD_v2");
    const double **all = malloc((size_t)many * sizeof *all);
    if (!all) failed("malloc", 1);
    for (int64_t i = 0; i < many; i++) all[i] = first + i * step;
    int status = p->at ? 0 : alloc(&p->at, (size_t)many * sizeof *all);
    if (!status) status = upload(p->at, all, (size_t)many * sizeof *all);
    free(all);
    if (status) failed("an array of pointers", status);
    p->first = first;
    return (void *)(uintptr_t)p->at;
}

/* Streams that begin after what was enqueued on `stream`, which in turn waits for all of them. */
static void *streams[STREAMS], *began, *ended[STREAMS];

static inline void fork_streams(void *stream) {
    int (*record)(void *, void *) = (int (*)(void *, void *))of_driver("cuEventRecord");
    int (*wait)(void *, void *, unsigned) = (int (*)(void *, void *, unsigned))of_driver("cuStreamWaitEvent");
    if (!began) {
        int (*new_stream)(void **, unsigned) = (int (*)(void **, unsigned))of_driver("cuStreamCreate");
        int (*new_event)(void **, unsigned) = (int (*)(void **, unsigned))of_driver("cuEventCreate");
        int status = new_event(&began, 2);
        for (int i = 0; i < STREAMS && !status; i++) {
            status = new_stream(&streams[i], 1);
            if (!status) status = new_event(&ended[i], 2);
        }
        if (status) failed("streams", status);
    }
    int status = record(began, stream);
    for (int i = 0; i < STREAMS && !status; i++) status = wait(streams[i], began, 0);
    if (status) failed("cuStreamWaitEvent", status);
}

static inline void join_streams(void *stream) {
    int (*record)(void *, void *) = (int (*)(void *, void *))of_driver("cuEventRecord");
    int (*wait)(void *, void *, unsigned) = (int (*)(void *, void *, unsigned))of_driver("cuStreamWaitEvent");
    int status = 0;
    for (int i = 0; i < STREAMS && !status; i++) {
        status = record(ended[i], streams[i]);
        if (!status) status = wait(stream, ended[i], 0);
    }
    if (status) failed("cuEventRecord", status);
}
