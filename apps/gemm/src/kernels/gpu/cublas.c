/* cuBLAS on the same arguments, found at run time. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*create_t)(void **);
typedef int (*set_stream_t)(void *, void *);
typedef int (*dgemm_t)(void *, int, int, int, int, int, const double *, const double *, int,
                       const double *, int, const double *, double *, int);

static void *find(void *library, const char *name) {
    void *symbol = library ? dlsym(library, name) : 0;
    if (!symbol) {
        fprintf(stderr, "cuBLAS is missing: %s\n", dlerror());
        exit(1);
    }
    return symbol;
}

void cublas(int32_t rows, int32_t columns, int32_t depth, double alpha, double alpha_im,
            const double *a, int32_t lda, const double *b, int32_t ldb, double beta,
            double beta_im, double *c, int32_t ldc, void *stream) {
    static void *handle;
    static dgemm_t dgemm;
    (void)alpha_im, (void)beta_im;
    if (!handle) {
        void *library = dlopen("libcublas.so.13", RTLD_NOW);
        if (!library) library = dlopen("libcublas.so.12", RTLD_NOW);
        if (!library) library = dlopen("libcublas.so", RTLD_NOW);
        create_t create = (create_t)find(library, "cublasCreate_v2");
        set_stream_t set_stream = (set_stream_t)find(library, "cublasSetStream_v2");
        dgemm = (dgemm_t)find(library, "cublasDgemm_v2");
        if (create(&handle) || set_stream(handle, stream)) {
            fprintf(stderr, "cuBLAS does not start\n");
            exit(1);
        }
    }
    const int status = dgemm(handle, trans_a, trans_b, rows, columns, depth, &alpha, a, lda, b, ldb,
                             &beta, c, ldc);
    if (status) {
        fprintf(stderr, "cublasDgemm failed with status %d\n", status);
        exit(1);
    }
}
