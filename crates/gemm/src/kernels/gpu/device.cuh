/* What a kernel needs of the machine beside C++: asynchronous copies, barriers of the copy engine,
 * products on the tensor cores. The CPU twin of each stands beside it: GREENUP_SHIM is defined where
 * the same kernels run on a host, a fiber a thread. */
#pragma once

#ifdef GREENUP_SHIM
#define SHARED_BYTES(name) char *name = greenup_shared()

template <int bytes> __device__ inline void copy_async(void *to, const void *from, int valid) {
    greenup_copy(to, from, bytes, valid);
}
__device__ inline void commit() { greenup_commit(); }
template <int n> __device__ inline void wait_but() { greenup_wait_but(n); }

/* A texture of a whole array; the host has none. */
typedef const void *Texture;
template <int n> __device__ inline void read_texels(unsigned (&to)[n], Texture t, int i) {
    memcpy(to, (const unsigned *)t + n * (long long)i, sizeof to);
}
#else
/* A texture of a whole array, whose texels are n words of 32 bits. */
typedef unsigned long long Texture;
template <int n> __device__ inline void read_texels(unsigned (&to)[n], Texture t, int i) {
    unsigned x, y, z, w;
    asm("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
        : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
        : "l"(t), "r"(i));
    to[0] = x;
    if constexpr (n > 1) to[1] = y;
    if constexpr (n > 2) to[2] = z, to[3] = w;
}

/* The dynamic shared memory of a block. */
#define SHARED_BYTES(name) extern __shared__ __align__(1024) unsigned char name[]

__device__ inline unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Copies `valid` of `bytes` (4, 8 or 16, aligned) from global to shared memory, zeros behind. */
template <int bytes> __device__ inline void copy_async(void *to, const void *from, int valid) {
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                     "l"(from), "r"(valid)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                     "l"(from), "n"(bytes), "r"(valid)
                     : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Waits until all but the last n groups have arrived. */
template <int n> __device__ inline void wait_but() {
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

/* Barriers in shared memory that also count the copy engine's bytes (sm_90). */
typedef unsigned long long Barrier;

__device__ inline void barrier_init(Barrier *b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count)
                 : "memory");
}
__device__ inline void barriers_visible() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void expect_bytes(Barrier *b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)),
                 "r"(bytes)
                 : "memory");
}
__device__ inline void arrive(Barrier *b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
/* Waits for the end of the phase with this parity. */
__device__ inline void wait_phase(Barrier *b, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(shared_address(b)),
                 "r"(parity)
                 : "memory");
}
/* The copy engine brings bytes (a multiple of 16, aligned) and counts them on the barrier. */
__device__ inline void copy_bulk(void *to, const void *from, unsigned bytes, Barrier *b) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(b))
        : "memory");
}
/* How an array is cut into boxes; made by the driver. */
struct alignas(64) TensorMap {
    unsigned char opaque[128];
};
/* Brings the box of a map at (0, line, panel). */
__device__ inline void copy_tile(void *to, const TensorMap *map, int line, int panel, Barrier *b) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
                 "l"(map), "r"(0), "r"(line), "r"(panel), "r"(shared_address(b))
                 : "memory");
}
#endif

/* c += a b on a warp: a 16 x k, b k x 8, c 16 x 8 doubles. Lane 4 g + t holds of a rows g and g + 8
 * at columns t, t + 4, …; of b column g at rows t, t + 4, …; of c rows g, g + 8 at 2 t, 2 t + 1. */
template <int k>
__device__ inline void multiply(double (&c)[4], const double (&a)[k / 2], const double (&b)[k / 4]) {
#ifdef GREENUP_SHIM
    double all_a[32][k / 2], all_b[32][k / 4];
    greenup_exchange(&a[0], k / 2, &all_a[0][0]);
    greenup_exchange(&b[0], k / 4, &all_b[0][0]);
    const int lane = greenup_lane(), g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; i++) {
        const int row = g + 8 * (i / 2), column = 2 * t + i % 2;
        for (int x = 0; x < k; x++)
            c[i] += all_a[4 * (row % 8) + x % 4][2 * (x / 4) + row / 8] *
                    all_b[4 * column + x % 4][x / 4];
    }
#else
    if constexpr (k == 4)
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
                     "{%0,%1,%2,%3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(b[0]));
    else if constexpr (k == 8)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                       "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
}
