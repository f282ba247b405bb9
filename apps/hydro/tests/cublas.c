/* A stand-in for cuBLAS and the driver on the host's memory: what the baselines of the batched problems call, as documented.
 * Calls are checked for leading dimensions that are too small. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef long long Step;

int cublasCreate_v2(void **handle) {
    *handle = malloc(1);
    return 0;
}
int cublasSetStream_v2(void *handle, void *stream) {
    (void)handle, (void)stream;
    return 0;
}

int cublasDgemm_v2(void *handle, int trans_a, int trans_b, int m, int n, int k, const double *alpha, const double *a, int lda,
                   const double *b, int ldb, const double *beta, double *c, int ldc) {
    if (!handle || lda < (trans_a ? k : m) || ldb < (trans_b ? n : k) || ldc < m) return 7;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int q = 0; q < k; q++)
                sum += a[trans_a ? q + (Step)i * lda : i + (Step)q * lda] * b[trans_b ? j + (Step)q * ldb : q + (Step)j * ldb];
            double *to = c + i + (Step)j * ldc;
            *to = *alpha * sum + (*beta == 0 ? 0 : *beta * *to);
        }
    return 0;
}

int cublasDgemmStridedBatched(void *handle, int trans_a, int trans_b, int m, int n, int k, const double *alpha, const double *a,
                              int lda, Step step_a, const double *b, int ldb, Step step_b, const double *beta, double *c,
                              int ldc, Step step_c, int many) {
    int status = 0;
    for (int i = 0; i < many && !status; i++)
        status = cublasDgemm_v2(handle, trans_a, trans_b, m, n, k, alpha, a + i * step_a, lda, b + i * step_b, ldb, beta,
                                c + i * step_c, ldc);
    return status;
}

int cublasDgemmBatched(void *handle, int trans_a, int trans_b, int m, int n, int k, const double *alpha,
                       const double *const *a, int lda, const double *const *b, int ldb, const double *beta,
                       double *const *c, int ldc, int many) {
    int status = 0;
    for (int i = 0; i < many && !status; i++)
        status = cublasDgemm_v2(handle, trans_a, trans_b, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc);
    return status;
}

int cublasDgemv_v2(void *handle, int trans, int m, int n, const double *alpha, const double *a, int lda, const double *x,
                   int step_x, const double *beta, double *y, int step_y) {
    if (step_x != 1 || step_y != 1 || lda < m) return 7;
    const int gives = trans ? n : m, takes = trans ? m : n;
    return cublasDgemm_v2(handle, trans, 0, gives, 1, takes, alpha, a, lda, x, takes, beta, y, gives);
}

int cublasDgemvStridedBatched(void *handle, int trans, int m, int n, const double *alpha, const double *a, int lda, Step step_a,
                              const double *x, int inc_x, Step step_x, const double *beta, double *y, int inc_y, Step step_y,
                              int many) {
    int status = 0;
    for (int i = 0; i < many && !status; i++)
        status = cublasDgemv_v2(handle, trans, m, n, alpha, a + i * step_a, lda, x + i * step_x, inc_x, beta, y + i * step_y,
                                inc_y);
    return status;
}

int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGet(int *device, int number) {
    *device = number;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    *context = malloc(1);
    return 0;
}
int cuCtxSetCurrent(void *context) { return !context; }
int cuCtxSynchronize(void) { return 0; }
int cuMemAlloc_v2(uint64_t *at, size_t bytes) {
    *at = (uint64_t)(uintptr_t)malloc(bytes);
    return !*at;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
int cuStreamCreate(void **stream, unsigned flags) {
    *stream = malloc(1);
    return flags != 1;
}
int cuEventCreate(void **event, unsigned flags) {
    *event = malloc(1);
    return flags != 2;
}
int cuEventRecord(void *event, void *stream) {
    (void)stream;
    return !event;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)stream;
    return !event || flags;
}
