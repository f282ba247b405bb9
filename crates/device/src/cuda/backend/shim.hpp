/* Runs SIMT kernels on a host from the same text: blocks one after the other, a fiber a thread.
 *
 * A thread runs until it waits for its block or its warp. Shared memory starts as NaN. Asynchronous
 * copies arrive when they are waited for, not before, so that a missing wait gives a wrong result.
 * What it cannot show: races between barriers, and the order of atomics. */
#pragma once
#define GREENUP_SHIM 1

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
struct uint3 {
    unsigned x, y, z;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
using std::fma;

namespace greenup {

struct Copy {
    char *to;
    const char *from;
    int bytes, valid;
};

enum Waits { RUNS, FOR_BLOCK, FOR_WARP, ENDED };

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    uint3 thread;
    int number;
    Waits waits;
    /* Groups of copies not yet waited for; the last is open. */
    std::vector<std::vector<Copy>> copies;
};

struct Block {
    std::vector<Fiber> fibers;
    ucontext_t scheduler;
    Fiber *now = nullptr;
    uint3 index;
    dim3 grid, shape;
    std::vector<char> shared;
    /* Values that the lanes of each warp show each other. */
    std::vector<char> shown;
    void (*body)(void *) = nullptr;
    void *argument = nullptr;
};

/* Not inline: loaders make one of all libraries' inline statics, and threads run different libraries. */
static Block &block() {
    static Block b;
    return b;
}

inline void wait(Waits what) {
    Block &b = block();
    b.now->waits = what;
    swapcontext(&b.now->context, &b.scheduler);
}

inline void enter() {
    Block &b = block();
    b.body(b.argument);
    b.now->waits = ENDED;
    swapcontext(&b.now->context, &b.scheduler);
}

/* Frees those who wait for each other and are all there. */
inline bool release(Block &b) {
    bool any = false;
    auto all = [&](size_t from, size_t to, Waits what) {
        bool some = false;
        for (size_t i = from; i < to; i++) {
            if (b.fibers[i].waits == ENDED) continue;
            if (b.fibers[i].waits != what) return;
            some = true;
        }
        if (!some) return;
        for (size_t i = from; i < to; i++)
            if (b.fibers[i].waits == what) b.fibers[i].waits = RUNS;
        any = true;
    };
    const size_t n = b.fibers.size();
    all(0, n, FOR_BLOCK);
    for (size_t w = 0; w < n; w += 32) all(w, w + 32 < n ? w + 32 : n, FOR_WARP);
    return any;
}

inline void run_block() {
    Block &b = block();
    /* All bits set is not a number, as a float and as a double. */
    memset(b.shared.data(), 0xff, b.shared.size());
    for (Fiber &f : b.fibers) {
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.data();
        f.context.uc_stack.ss_size = f.stack.size();
        f.context.uc_link = nullptr;
        makecontext(&f.context, enter, 0);
        f.waits = RUNS;
        f.copies.assign(1, {});
    }
    for (;;) {
        bool ended = true;
        for (Fiber &f : b.fibers) {
            if (f.waits == RUNS) {
                b.now = &f;
                swapcontext(&b.scheduler, &f.context);
            }
            ended = ended && f.waits == ENDED;
        }
        if (ended) return;
        if (!release(b)) {
            fprintf(stderr, "threads of one block wait for different barriers\n");
            exit(1);
        }
    }
}

template <class F> void launch(dim3 grid, dim3 shape, unsigned shared, F body) {
    Block &b = block();
    const size_t threads = (size_t)shape.x * shape.y * shape.z;
    if (b.fibers.size() != threads) {
        b.fibers = std::vector<Fiber>(threads);
        for (size_t i = 0; i < threads; i++) {
            b.fibers[i].stack.resize(64 << 10);
            b.fibers[i].number = (int)i;
        }
    }
    /* Fibers outlive a launch, and a library: the next may have as many threads in another shape. */
    for (size_t i = 0; i < threads; i++)
        b.fibers[i].thread = {(unsigned)(i % shape.x), (unsigned)(i / shape.x % shape.y),
                              (unsigned)(i / shape.x / shape.y)};
    b.grid = grid;
    b.shape = shape;
    b.shared.assign(shared + 128, 0);
    b.shown.assign(threads * 256, 0);
    b.argument = &body;
    b.body = [](void *f) { (*(F *)f)(); };
    for (b.index.z = 0; b.index.z < grid.z; b.index.z++)
        for (b.index.y = 0; b.index.y < grid.y; b.index.y++)
            for (b.index.x = 0; b.index.x < grid.x; b.index.x++) run_block();
}

/* The argument of type T that lies there: arrays are given as they are, scalars by address. */
template <class T> struct Argument {
    static T of(void *p) { return *(T *)p; }
};
template <class T> struct Argument<T *> {
    static T *of(void *p) { return (T *)p; }
};

template <class... T, size_t... i>
void call(void (*kernel)(T...), void **a, std::index_sequence<i...>) {
    kernel(Argument<T>::of(a[i])...);
}

template <class... T>
void launch_kernel(void (*kernel)(T...), void **a, dim3 grid, dim3 shape, unsigned shared) {
    launch(grid, shape, shared, [&] { call(kernel, a, std::index_sequence_for<T...>()); });
}

} // namespace greenup

#define threadIdx (greenup::block().now->thread)
#define blockIdx (greenup::block().index)
#define blockDim (greenup::block().shape)
#define gridDim (greenup::block().grid)

inline void __syncthreads() { greenup::wait(greenup::FOR_BLOCK); }
inline void __syncwarp(unsigned = ~0u) { greenup::wait(greenup::FOR_WARP); }
inline int greenup_lane() { return greenup::block().now->number % 32; }
inline char *greenup_shared() {
    /* Aligned as on a GPU. */
    return (char *)(((uintptr_t)greenup::block().shared.data() + 127) & ~(uintptr_t)127);
}

/* Each lane of a warp shows n values (256 bytes at most); all get those of all 32. */
template <class T> void greenup_exchange(const T *mine, int n, T *all) {
    greenup::Block &b = greenup::block();
    const int number = b.now->number, warp = number / 32 * 32;
    memcpy(b.shown.data() + number * 256, mine, n * sizeof(T));
    __syncwarp();
    for (int lane = 0; lane < 32; lane++)
        memcpy(all + lane * n, b.shown.data() + (warp + lane) * 256, n * sizeof(T));
    __syncwarp();
}
template <class T> T __shfl_xor_sync(unsigned, T value, int mask) {
    T all[32];
    greenup_exchange(&value, 1, all);
    return all[greenup_lane() ^ mask];
}
template <class T> T __shfl_down_sync(unsigned, T value, int delta) {
    T all[32];
    greenup_exchange(&value, 1, all);
    return all[greenup_lane() + delta < 32 ? greenup_lane() + delta : greenup_lane()];
}
template <class T> T __shfl_sync(unsigned, T value, int lane) {
    T all[32];
    greenup_exchange(&value, 1, all);
    return all[lane % 32];
}
inline int __all_sync(unsigned, int given) {
    int all[32];
    greenup_exchange(&given, 1, all);
    for (int lane = 0; lane < 32; lane++)
        if (!all[lane]) return 0;
    return 1;
}

/* Copies that arrive when they are waited for. */
inline void greenup_copy(void *to, const void *from, int bytes, int valid) {
    greenup::block().now->copies.back().push_back({(char *)to, (const char *)from, bytes, valid});
}
inline void greenup_commit() { greenup::block().now->copies.emplace_back(); }
inline void greenup_wait_but(size_t n) {
    auto &groups = greenup::block().now->copies;
    while (groups.size() > n + 1) {
        for (const greenup::Copy &c : groups.front())
            for (int i = 0; i < c.bytes; i++) c.to[i] = i < c.valid ? c.from[i] : 0;
        groups.erase(groups.begin());
    }
}

template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> void __stcs(T *p, T v) { *p = v; }
template <class T> T atomicAdd(T *p, T v) {
    const T old = *p;
    *p += v;
    return old;
}

inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fadd_rn(float a, float b) {
    volatile float sum = a + b;
    return sum;
}
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline unsigned __float_as_uint(float x) {
    unsigned u;
    memcpy(&u, &x, 4);
    return u;
}
inline float __uint_as_float(unsigned u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}
template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a > b ? a : b; }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline long long __double_as_longlong(double x) {
    long long i;
    memcpy(&i, &x, 8);
    return i;
}
inline double __longlong_as_double(long long i) {
    double x;
    memcpy(&x, &i, 8);
    return x;
}
template <class T> T atomicMax(T *p, T v) {
    const T old = *p;
    if (v > old) *p = v;
    return old;
}
template <class T> void __stcg(T *p, T v) { *p = v; }
inline void __threadfence() {}
inline void __threadfence_system() { __sync_synchronize(); }
/* Who is waited for may need this core. */
inline void __nanosleep(unsigned) { sched_yield(); }
#define __CUDACC_RTC__ 1
