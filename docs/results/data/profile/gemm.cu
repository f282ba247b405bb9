// Products of matrices by cuBLAS in four precisions on random data, and copies: rounds, milliseconds of pause between rounds.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call) do { auto status_ = (call); if (status_ != 0) { fprintf(stderr, "%s: %d\n", #call, (int)status_); return 1; } } while (0)

template <class T> __global__ void fill(T *a, size_t n, unsigned seed) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        unsigned h = (unsigned)i * 2654435761u + seed;
        h ^= h >> 15; h *= 2246822519u; h ^= h >> 13;
        a[i] = (T)((float)h / 4294967296.0f - 0.5f);
    }
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 10, pause = count > 2 ? atoi(arguments[2]) : 0;
    const int n = 8192, m = 4096;
    cublasHandle_t h;
    CHECK(cublasCreate(&h));
    double *d[3]; float *s[3]; __nv_bfloat16 *b[2]; float *c, *y;
    for (auto &p : d) { CHECK(cudaMalloc(&p, sizeof(double) * m * m)); fill<<<1024, 256>>>(p, (size_t)m * m, 1); }
    for (auto &p : s) { CHECK(cudaMalloc(&p, sizeof(float) * m * m)); fill<<<1024, 256>>>(p, (size_t)m * m, 2); }
    for (auto &p : b) { CHECK(cudaMalloc(&p, sizeof(*p) * n * n)); fill<<<1024, 256>>>(p, (size_t)n * n, 3); }
    CHECK(cudaMalloc(&c, sizeof(float) * n * n));
    CHECK(cudaMalloc(&y, sizeof(float) * n * n));
    fill<<<1024, 256>>>(y, (size_t)n * n, 4);
    const double one = 1, zero = 0; const float onef = 1, zerof = 0;
    auto round = [&]() -> int {
        CHECK(cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, d[0], m, d[1], m, &zero, d[2], m));
        CHECK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &onef, s[0], m, s[1], m, &zerof, s[2], m));
        CHECK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &onef, s[0], CUDA_R_32F, m, s[1], CUDA_R_32F, m, &zerof, s[2], CUDA_R_32F, m, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT));
        for (int k = 0; k < 4; k++) CHECK(cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &onef, b[0], CUDA_R_16BF, n, b[1], CUDA_R_16BF, n, &zerof, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        for (int k = 0; k < 8; k++) CHECK(cublasSaxpy(h, n * n, &onef, c, 1, y, 1));
        for (int k = 0; k < 4; k++) CHECK(cudaMemcpyAsync(d[1], d[0], sizeof(double) * m * m, cudaMemcpyDeviceToDevice));
        return 0;
    };
    if (round()) return 1;
    CHECK(cudaDeviceSynchronize());
    // One element against a sum in double precision.
    std::vector<double> a(m), bb(m); double got;
    CHECK(cudaMemcpy2D(a.data(), 8, d[0], 8 * m, 8, m, cudaMemcpyDeviceToHost));
    auto start = std::chrono::steady_clock::now();
    for (int r = 0; r < rounds; r++) {
        if (round()) return 1;
        if (pause) { CHECK(cudaDeviceSynchronize()); std::this_thread::sleep_for(std::chrono::milliseconds(pause)); }
    }
    CHECK(cudaDeviceSynchronize());
    double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK(cudaMemcpy(&got, d[2], 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bb.data(), d[1], 8 * m, cudaMemcpyDeviceToHost));
    // After the first round both factors are the same.
    double sum = 0, size = 0;
    for (int k = 0; k < m; k++) { sum += a[k] * bb[k]; size += fabs(a[k] * bb[k]); }
    double error = fabs(sum - got) / size;
    printf("{\"rounds\": %d, \"loop_s\": %.6f, \"error\": %.2e}\n", rounds, took, error);
    return error < 1e-12 ? 0 : 2;
}
