/* The products by cuBLAS, of matrix after matrix: a structure of arrays is not what it takes, but has as many. */
#include "../cublas.h"

void products(const double *a, const double *b, double *c, void *stream) {
    enum { ELEMENTS = dim * dim };
    const int right = trans_b ? TRANSPOSED : AS_IT_IS;
    void *handle = handle_on(stream);
#if baseline_kind == 0
    static Pointers of_a, of_b, of_c;
    gemm_pointers_t gemm = (gemm_pointers_t)of_cublas("cublasDgemmBatched");
    const int status = gemm(handle, AS_IT_IS, right, dim, dim, dim, &one, pointers(&of_a, a, ELEMENTS, total), dim,
                            pointers(&of_b, b, ELEMENTS, total), dim, &zero, pointers(&of_c, c, ELEMENTS, total), dim,
                            total);
    if (status) failed("cublasDgemmBatched", status);
#elif baseline_kind == 1
    gemm_steps_t gemm = (gemm_steps_t)of_cublas("cublasDgemmStridedBatched");
    const int status = gemm(handle, AS_IT_IS, right, dim, dim, dim, &one, a, dim, ELEMENTS, b, dim, ELEMENTS, &zero, c,
                            dim, ELEMENTS, total);
    if (status) failed("cublasDgemmStridedBatched", status);
#else
    gemm_one_t gemm = (gemm_one_t)of_cublas("cublasDgemm_v2");
    fork_streams(stream);
    for (int64_t m = 0; m < total; m++) {
        handle = handle_on(streams[m % STREAMS]);
        const int64_t at = m * ELEMENTS;
        const int status = gemm(handle, AS_IT_IS, right, dim, dim, dim, &one, a + at, dim, b + at, dim, &zero, c + at, dim);
        if (status) failed("cublasDgemm", status);
    }
    join_streams(stream);
#endif
}
