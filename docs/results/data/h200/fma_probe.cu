/* What bounds FMAs of doubles on an H200: outer products in registers, with and without loads, and
 * reads of 16 bytes a lane from shared memory by how a warp lies over m and n.
 *   nvcc -O3 -std=c++17 -arch=sm_90 -o fma_probe fma_probe.cu && ./fma_probe */
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Where a lane stands: kinds 0 8 x 4 and 1 16 x 2, m first; 2 and 3 interleaved; 4 n first; 5 a row. */
__device__ int place(int lane, int kind, int &n) {
    const int b0 = lane & 1, b1 = lane >> 1 & 1, b2 = lane >> 2 & 1, b3 = lane >> 3 & 1,
              b4 = lane >> 4 & 1;
    switch (kind) {
    case 0: n = lane / 8; return lane % 8;
    case 1: n = lane / 16; return lane % 16;
    case 2: n = b0 | b4 << 1; return b1 | b2 << 1 | b3 << 2;
    case 3: n = b0 | b2 << 1; return b1 | b3 << 1 | b4 << 2;
    case 4: n = lane % 4; return lane / 4;
    default: n = 0; return lane;
    }
}

template <int at> __device__ inline void read(unsigned from, int &sum) {
    int a, b, c, d;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4+%5];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(from), "n"(at * 1024));
    sum ^= a ^ b ^ c ^ d;
}

__global__ void reads(int kind, int along_n, int stride, long long *cycles, int *sink) {
    extern __shared__ __align__(128) int raw[];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) raw[i] = i;
    __syncthreads();
    int n;
    const int m = place(threadIdx.x % 32, kind, n);
    const unsigned from = (unsigned)__cvta_generic_to_shared(raw) + (along_n ? n : m) * stride;
    int sum = 0;
    const long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < 128; r++) {
        read<0>(from, sum), read<1>(from, sum), read<2>(from, sum), read<3>(from, sum);
        read<4>(from, sum), read<5>(from, sum), read<6>(from, sum), read<7>(from, sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - start;
    sink[threadIdx.x] = sum;
}

/* order 0: down, column after column; 1: to and fro. */
template <int TM, int TN, int order, int loads>
__global__ void __launch_bounds__(256)
outer(const double *in, double *out, int passes, long long *cycles) {
    __shared__ __align__(128) double kept[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) kept[i] = in[i];
    double c[TM][TN] = {}, a[2][TM], b[2][TN];
    const int lane = threadIdx.x % 32;
    for (int h = 0; h < 2; h++) {
        for (int i = 0; i < TM; i++) a[h][i] = in[i + threadIdx.x + 64 * h];
        for (int j = 0; j < TN; j++) b[h][j] = in[j + threadIdx.x + 128 + 64 * h];
    }
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    for (int p = 0; p < passes; p++) {
        const double *pa = kept + p % 8 * 256 + lane % 8 * 2;
        const double *pb = kept + 2048 + p % 8 * 256 + lane / 8 * 2;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (loads) {
#pragma unroll
                for (int i = 0; i < TM; i += 2) {
                    const double2 v = *(const double2 *)(pa + k * 4 + i * 8);
                    a[(k + 1) % 2][i] = v.x, a[(k + 1) % 2][i + 1] = v.y;
                }
#pragma unroll
                for (int j = 0; j < TN; j += 2) {
                    const double2 v = *(const double2 *)(pb + k * 4 + j * 8);
                    b[(k + 1) % 2][j] = v.x, b[(k + 1) % 2][j + 1] = v.y;
                }
            }
#pragma unroll
            for (int j = 0; j < TN; j++)
#pragma unroll
                for (int x = 0; x < TM; x++) {
                    const int i = order && j % 2 ? TM - 1 - x : x;
                    c[i][j] = fma(a[k % 2][i], b[k % 2][j], c[i][j]);
                }
            if (!loads) asm volatile("" ::"d"(a[0][0]) : "memory");
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = clock64() - start;
    double sum = 0;
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) sum += c[i][j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int TM, int TN, int order, int loads>
void try_outer(const double *in, double *out, long long *cycles) {
    for (int threads : {128, 256}) {
        outer<TM, TN, order, loads><<<132, threads>>>(in, out, 500, cycles);
        long long t;
        cudaMemcpy(&t, cycles, 8, cudaMemcpyDeviceToHost);
        printf("outer %dx%d order %d loads %d threads %d: %.1f %% of peak\n", TM, TN, order, loads,
               threads, 100. * 500 * 4 * TM * TN * (threads / 128) * 2 / t);
    }
}

int main() {
    long long *cycles;
    int *sink;
    double *in, *out;
    cudaMalloc(&cycles, 8), cudaMalloc(&sink, 1 << 20), cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 8 << 20);
    std::vector<double> h(1 << 17);
    for (auto &x : h) x = drand48() * 2 - 1;
    cudaMemcpy(in, h.data(), 1 << 20, cudaMemcpyHostToDevice);
    for (int along_n : {0, 1})
        for (int kind = 0; kind < 6; kind++)
            for (int stride : {16, 160, 320}) {
                if (!along_n && stride != 16) continue;
                reads<<<1, 256, 32768>>>(kind, along_n, stride, cycles, sink);
                long long t;
                cudaMemcpy(&t, cycles, 8, cudaMemcpyDeviceToHost);
                printf("lds128 %s kind %d stride %d: %.2f cycles a warp load\n", along_n ? "n" : "m",
                       kind, stride, t / (128. * 8 * 8));
            }
    try_outer<8, 8, 0, 0>(in, out, cycles), try_outer<8, 8, 1, 0>(in, out, cycles);
    try_outer<8, 8, 0, 1>(in, out, cycles), try_outer<8, 8, 1, 1>(in, out, cycles);
    try_outer<4, 8, 0, 0>(in, out, cycles), try_outer<4, 8, 0, 1>(in, out, cycles);
    try_outer<4, 4, 0, 0>(in, out, cycles), try_outer<6, 8, 0, 1>(in, out, cycles);
    try_outer<8, 10, 0, 1>(in, out, cycles);
}
