/* The products by cuBLAS. */
#include "../cublas.h"

void forces(const double *a, const double *b, double *f, void *stream) {
    void *handle = handle_on(stream);
#if baseline_kind == 0
    static Pointers of_a, of_b, of_f;
    gemm_pointers_t gemm = (gemm_pointers_t)of_cublas("cublasDgemmBatched");
    const int status = gemm(handle, AS_IT_IS, TRANSPOSED, rows, columns, inner, &one,
                            pointers(&of_a, a, rows * inner, zones), rows, pointers(&of_b, b, 0, zones), columns, &zero,
                            pointers(&of_f, f, rows * columns, zones), rows, zones);
    if (status) failed("cublasDgemmBatched", status);
#elif baseline_kind == 1
    gemm_steps_t gemm = (gemm_steps_t)of_cublas("cublasDgemmStridedBatched");
    const int status = gemm(handle, AS_IT_IS, TRANSPOSED, rows, columns, inner, &one, a, rows, rows * inner, b, columns, 0,
                            &zero, f, rows, rows * columns, zones);
    if (status) failed("cublasDgemmStridedBatched", status);
#else
    gemm_one_t gemm = (gemm_one_t)of_cublas("cublasDgemm_v2");
    fork_streams(stream);
    for (int64_t z = 0; z < zones; z++) {
        handle = handle_on(streams[z % STREAMS]);
        const int status = gemm(handle, AS_IT_IS, TRANSPOSED, rows, columns, inner, &one, a + z * rows * inner, rows, b,
                                columns, &zero, f + z * rows * columns, rows);
        if (status) failed("cublasDgemm", status);
    }
    join_streams(stream);
#endif
}
