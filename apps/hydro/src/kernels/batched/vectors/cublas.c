/* The products by cuBLAS. */
#include "../cublas.h"

void vectors(const double *f, const double *x, double *y, void *stream) {
    enum { BY = number == 8 ? AS_IT_IS : TRANSPOSED, TAKES = number == 8 ? columns : rows, GIVES = rows + columns - TAKES };
    void *handle = handle_on(stream);
#if baseline_kind == 0
    gemm_steps_t gemm = (gemm_steps_t)of_cublas("cublasDgemmStridedBatched");
    const int status = gemm(handle, BY, AS_IT_IS, GIVES, 1, TAKES, &one, f, rows, rows * columns, x, TAKES, TAKES, &zero, y,
                            GIVES, GIVES, zones);
    if (status) failed("cublasDgemmStridedBatched", status);
#elif baseline_kind == 1
    gemv_steps_t gemv = (gemv_steps_t)of_cublas("cublasDgemvStridedBatched");
    const int status = gemv(handle, BY, rows, columns, &one, f, rows, rows * columns, x, 1, TAKES, &zero, y, 1, GIVES, zones);
    if (status) failed("cublasDgemvStridedBatched", status);
#else
    gemv_one_t gemv = (gemv_one_t)of_cublas("cublasDgemv_v2");
    fork_streams(stream);
    for (int64_t z = 0; z < zones; z++) {
        handle = handle_on(streams[z % STREAMS]);
        const int status = gemv(handle, BY, rows, columns, &one, f + z * rows * columns, rows, x + z * TAKES, 1, &zero,
                                y + z * GIVES, 1);
        if (status) failed("cublasDgemv", status);
    }
    join_streams(stream);
#endif
}
