/* cuBLAS on the same arguments, found at run time. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*create_t)(void **);
typedef int (*set_stream_t)(void *, void *);
typedef int (*set_mode_t)(void *, int);
#if elem == 0 || elem == 2
typedef float Real;
#else
typedef double Real;
#endif
typedef int (*gemm_t)(void *, int, int, int, int, int, const Real *, const Real *, int,
                      const Real *, int, const Real *, Real *, int);

static void *find(void *library, const char *name) {
    void *symbol = library ? dlsym(library, name) : 0;
    if (!symbol) {
        fprintf(stderr, "cuBLAS is missing: %s\n", dlerror());
        exit(1);
    }
    return symbol;
}

void cublas(int32_t rows, int32_t columns, int32_t depth, Real alpha, Real alpha_im,
            const Real *a, int32_t lda, const Real *b, int32_t ldb, Real beta, Real beta_im,
            Real *c, int32_t ldc, void *stream) {
    static void *handle;
    static gemm_t gemm;
    static const char *const names[] = {"cublasSgemm_v2", "cublasDgemm_v2", "cublasCgemm_v2",
                                        "cublasZgemm_v2"};
    /* Complex numbers are pairs. */
    const Real by[] = {alpha, alpha_im}, keep[] = {beta, beta_im};
    if (!handle) {
        void *library = dlopen("libcublas.so.13", RTLD_NOW);
        if (!library) library = dlopen("libcublas.so.12", RTLD_NOW);
        if (!library) library = dlopen("libcublas.so", RTLD_NOW);
        create_t create = (create_t)find(library, "cublasCreate_v2");
        set_stream_t set_stream = (set_stream_t)find(library, "cublasSetStream_v2");
        gemm = (gemm_t)find(library, names[elem]);
        set_mode_t set_mode = (set_mode_t)find(library, "cublasSetMathMode");
        /* The default mode: floats are not rounded to TF32. */
        if (create(&handle) || set_stream(handle, stream) || set_mode(handle, 0)) {
            fprintf(stderr, "cuBLAS does not start\n");
            exit(1);
        }
    }
    const int status =
        gemm(handle, trans_a, trans_b, rows, columns, depth, by, a, lda, b, ldb, keep, c, ldc);
    if (status) {
        fprintf(stderr, "%s failed with status %d\n", names[elem], status);
        exit(1);
    }
}
