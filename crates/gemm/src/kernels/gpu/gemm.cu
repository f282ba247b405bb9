/* C = alpha op(A) op(B) + beta C, column major, for f32, f64 and their complex numbers: one family
 * from Anzt et al. 2015 (§2.2) to Hopper.
 *
 * A block of dim_m x dim_n threads makes blk_m x blk_n of C in steps of blk_k. Stripes of A and B go
 * through shared memory, read by threads in the shapes read_a and read_b (how many of them lie along
 * the contiguous side). Each thread keeps its part of C in registers.
 *
 *   way_copy   0 through registers, ahead of the products; 1 the same by the read-only path;
 *              2 asynchronous copies, stage_count deep; 3 the copy engine, line after line, fed by a
 *              warp of its own; 4 the copy engine, a stripe at once by its tensor map
 *   use_mma    0 products one by one; 4, 8, 16 on the tensor cores in steps of so many (f64 and its
 *              complex numbers, four real products each)
 *   vec_read   elements of a read from global memory
 *   vec_tile   neighbouring elements of a thread's tile, read together from shared memory; the rest
 *              interleaved over the threads
 *   pad_a/b    elements between the lines of a stripe, against bank conflicts
 *   parts_ahead  factors are fetched from shared memory 0 when they are needed; 1 a group ahead, into
 *              registers of their own; 2 in place, each as soon as the one before is used up
 *   raster_m   tiles of C are taken in groups of so many rows
 *   split_k    blocks that share a tile of C, each with its part of k
 *   grid_fixed blocks a multiprocessor of a fixed grid that takes tile after tile; 0: a block a tile
 *   lanes      how a warp lies over the threads' grid without tensor cores: 0 row after row, 1 in 8 x 4
 *   swizzle    units of a line change places in shared memory, against bank conflicts; no padding then
 *   turn       operands that are contiguous along k are turned on their way to shared memory
 *   texture    A and B are read through textures
 *   edges      reads beyond an edge: 0 left out, zeros instead; 1 clipped to the last element there is
 *   blocks_wanted  blocks a multiprocessor for which registers are saved
 *   has_edges  whether sizes leave partial tiles, or lines not aligned for vec_read
 */
#include "part.cuh"

/* Which tile comes when: down groups of raster_m rows, then along. */
__device__ inline void place(int tile, int tiles_m, int tiles_n, int &m, int &n) {
    const int wide = raster_m * tiles_n, first = tile / wide * raster_m;
    const int rows = tiles_m - first < raster_m ? tiles_m - first : raster_m;
    m = first + tile % wide % rows;
    n = tile % wide / rows;
}

/* A tile's stripes, from some k on. */
struct Stripes {
    const Element *a, *b;
    long long lda, ldb;
    int m, n, rows, columns, depth;

    __device__ Window of_a(int from) const {
        const int left_m = rows - m, left_k = depth - from;
        return trans_a == 0 ? Window{a + m + from * lda, lda, left_k, left_m}
                            : Window{a + from + m * lda, lda, left_m, left_k};
    }
    __device__ Window of_b(int from) const {
        const int left_n = columns - n, left_k = depth - from;
        return trans_b == 0 ? Window{b + from + n * ldb, ldb, left_n, left_k}
                            : Window{b + n + from * ldb, ldb, left_k, left_n};
    }
};

#if way_copy == 3
/* The producer's side: one warp that feeds the copy engine, running ahead over tiles too. */
template <class S>
__device__ inline void feed(int lane, const Window &w, Element *to, Barrier *full) {
    for (int line = lane; line < S::lines; line += 32)
        copy_bulk(to + line * S::step, w.from + line * w.step, S::length * sizeof(Element), full);
}
#endif

#if way_copy == 4
/* The stripe from element (x across, k) on. */
template <class S>
__device__ inline void copy_stripe(Element *to, const TensorMap *map, int x, int k, Barrier *full) {
    if constexpr (S::along_k)
        copy_tile(to, map, x, k / PANEL, full);
    else
        copy_tile(to, map, k, x / PANEL, full);
}
#define MORE , const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b
#elif texture && !defined(GREENUP_SHIM)
#define MORE , Texture texture_a, Texture texture_b
#else
#define MORE
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, blocks_wanted)
gemm(int rows, int columns, int depth, Real alpha, Real alpha_im, const Element *__restrict__ a,
     int lda, const Element *__restrict__ b, int ldb, Real beta, Real beta_im,
     Element *__restrict__ c, int ldc MORE) {
    SHARED_BYTES(raw);
    Element *stages = (Element *)raw;
    const int thread = threadIdx.x;
    const int tiles_m = (rows + blk_m - 1) / blk_m, tiles_n = (columns + blk_n - 1) / blk_n;
    [[maybe_unused]] const int all = tiles_m * tiles_n * split_k;
    const int steps = (depth + blk_k - 1) / blk_k, share = (steps + split_k - 1) / split_k;
    Part part(thread);

#if way_copy >= 3
    Barrier *full = (Barrier *)(stages + STAGES * STAGE);
    [[maybe_unused]] Barrier *empty = full + STAGES;
    if (thread == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full + s, 1);
            barrier_init(empty + s, THREADS / 32);
        }
        barriers_visible();
    }
    __syncthreads();
    /* Slots go on from tile to tile; the phase flips after the last. */
    int slot = 0;
    unsigned phase = 0;
#endif
#if grid_fixed
    for (int job = blockIdx.x; job < all; job += gridDim.x) {
#else
    for (bool once = true; once; once = false) {
        const int job = blockIdx.x;
#endif
        int tm, tn;
        place(job / split_k, tiles_m, tiles_n, tm, tn);
        const int first = job % split_k * share;
        const int last = first + share < steps ? first + share : steps;
        const Stripes stripes = {a, b, lda, ldb, tm * blk_m, tn * blk_n, rows, columns, depth};
#if way_copy == 3
        if (thread >= THREADS) {
            for (int step = first; step < last; step++) {
                wait_phase(empty + slot, phase ^ 1);
                const int lane = thread - THREADS;
                if (lane == 0)
                    expect_bytes(full + slot, (StripeA::lines * StripeA::length +
                                               StripeB::lines * StripeB::length) *
                                                  sizeof(Element));
                __syncwarp();
                Element *to = stages + slot * STAGE;
                feed<StripeA>(lane, stripes.of_a(step * blk_k), to, full + slot);
                feed<StripeB>(lane, stripes.of_b(step * blk_k), to + StripeA::size, full + slot);
                if (++slot == STAGES) slot = 0, phase ^= 1;
            }
            continue;
        }
        part.clear();
        auto done = [&] {
            __syncwarp();
            if (thread % 32 == 0) arrive(empty + slot);
            if (++slot == STAGES) slot = 0, phase ^= 1;
        };
#if parts_ahead
        Part::Held held[2];
        if (first < last) {
            wait_phase(full + slot, phase);
            part.fetch(held[0], stages + slot * STAGE, 0);
        }
        for (int step = first; step < last; step++)
            part.multiply_ahead(held, stages + slot * STAGE, [] {}, [&] {
                done();
                /* The last step fetches what nobody uses. */
                if (step + 1 < last) wait_phase(full + slot, phase);
                return (const Element *)stages + slot * STAGE;
            });
#else
        for (int step = first; step < last; step++) {
            wait_phase(full + slot, phase);
            part.multiply_stage(stages + slot * STAGE);
            done();
        }
#endif
#elif way_copy == 2 || way_copy == 4
        part.clear();
#if way_copy == 2
        [[maybe_unused]] typename ReaderA::Walk walk_a(thread, stripes.of_a(first * blk_k));
        [[maybe_unused]] typename ReaderB::Walk walk_b(thread, stripes.of_b(first * blk_k));
        int slot = 0;
        auto load = [&](int step, int ahead) {
            if (step < last) {
                const int to_slot = slot + ahead < STAGES ? slot + ahead : slot + ahead - STAGES;
                Element *to = stages + to_slot * STAGE;
                if constexpr (ReaderA::even)
                    walk_a.fetch_async(to, blk_k * (trans_a == 0 ? (long long)lda : 1));
                else
                    ReaderA::fetch_async(thread, stripes.of_a(step * blk_k), to);
                if constexpr (ReaderB::even)
                    walk_b.fetch_async(to + StripeA::size,
                                       blk_k * (trans_b == 0 ? 1 : (long long)ldb));
                else
                    ReaderB::fetch_async(thread, stripes.of_b(step * blk_k), to + StripeA::size);
            }
            commit();
        };
        auto arrived = [](int) {
            wait_but<STAGES - 2>();
            __syncthreads();
        };
        auto used = [&] {
            if (++slot == STAGES) slot = 0;
        };
        constexpr int AHEAD = STAGES - 1;
#else
        auto load = [&](int step, int ahead) {
            if (step < last && thread == 0) {
                const bool wraps = slot + ahead >= STAGES;
                const int to_slot = wraps ? slot + ahead - STAGES : slot + ahead;
                wait_phase(empty + to_slot, phase ^ (wraps ? 0 : 1));
                Element *to = stages + to_slot * STAGE;
                expect_bytes(full + to_slot, STAGE * sizeof(Element));
                copy_stripe<StripeA>(to, &map_a, stripes.m, step * blk_k, full + to_slot);
                copy_stripe<StripeB>(to + StripeA::size, &map_b, stripes.n, step * blk_k,
                                     full + to_slot);
            }
        };
        auto arrived = [&](int step) {
            if (step < last) wait_phase(full + slot, phase);
        };
        auto used = [&] {
            __syncwarp();
            if (thread % 32 == 0) arrive(empty + slot);
            if (++slot == STAGES) slot = 0, phase ^= 1;
        };
        /* One stage less is asked for ahead: then nobody waits for the last warp of this step. */
        constexpr int AHEAD = STAGES - 2;
#endif
#pragma unroll
        for (int s = 0; s < AHEAD; s++) load(first + s, s);
#if parts_ahead
        Part::Held held[2];
        arrived(first);
        part.fetch(held[0], stages + slot * STAGE, 0);
        for (int step = first; step < last; step++)
            part.multiply_ahead(held, stages + slot * STAGE, [&] { load(step + AHEAD, AHEAD); }, [&] {
                used();
                arrived(step + 1);
                return (const Element *)stages + slot * STAGE;
            });
#else
        for (int step = first; step < last; step++) {
            arrived(step);
            load(step + AHEAD, AHEAD);
            part.multiply_stage(stages + slot * STAGE);
            used();
        }
#endif
#if way_copy == 2
        wait_but<0>();
        __syncthreads();
#endif
#else
        part.clear();
        typename ReaderA::Held held_a;
        typename ReaderB::Held held_b;
#if texture && !defined(GREENUP_SHIM)
        const Source source_a = {a, texture_a}, source_b = {b, texture_b};
#else
        const Source source_a = {a, (Texture)a}, source_b = {b, (Texture)b};
#endif
        /* A block's share of k may be empty. */
        if (first < last) {
            ReaderA::fetch(thread, stripes.of_a(first * blk_k), held_a, source_a);
            ReaderB::fetch(thread, stripes.of_b(first * blk_k), held_b, source_b);
        }
        for (int step = first; step < last; step++) {
            ReaderA::store(thread, stages, held_a);
            ReaderB::store(thread, stages + StripeA::size, held_b);
            __syncthreads();
            if (step + 1 < last) {
                const int next = (step + 1) * blk_k;
                ReaderA::fetch(thread, stripes.of_a(next), held_a, source_a);
                ReaderB::fetch(thread, stripes.of_b(next), held_b, source_b);
            }
            part.multiply_stage(stages);
            __syncthreads();
        }
#endif
        part.write(c, ldc, tm * blk_m, tn * blk_n, rows, columns, element(alpha, alpha_im),
                   element(beta, beta_im));
    }
}

/* C = beta C, before blocks add their shares to it. */
extern "C" __global__ void scale(int rows, int columns, int depth, Real alpha, Real alpha_im,
                                 const Element *a, int lda, const Element *b, int ldb, Real beta,
                                 Real beta_im, Element *c, int ldc) {
    const Element by = element(beta, beta_im);
    for (int j = blockIdx.y; j < columns; j += gridDim.y)
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
            Element *p = c + i + (long long)j * ldc;
            *p = is_zero(by) ? zero() : product(by, *p);
        }
}
