/* C = alpha op(A) op(B) + beta C, column major, for f32, f64 and their complex numbers: one family
 * from Anzt et al. 2015 (§2.2) to Hopper.
 *
 * A block of dim_m x dim_n threads makes blk_m x blk_n of C in steps of blk_k. Stripes of A and B go
 * through shared memory, read by threads in the shapes read_a and read_b (how many of them lie along
 * the contiguous side). Each thread keeps its part of C in registers.
 *
 *   way_copy   0 through registers, ahead of the products; 1 the same by the read-only path;
 *              2 asynchronous copies, stage_count deep; 3 the copy engine, fed by a warp of its own
 *   use_mma    0 products one by one; 4, 8, 16 on the tensor cores in steps of so many (f64)
 *   vec_read   elements of a read from global memory
 *   vec_tile   neighbouring elements of a thread's tile, read together from shared memory; the rest
 *              interleaved over the threads
 *   pad_a/b    elements between the lines of a stripe, against bank conflicts
 *   raster_m   tiles of C are taken in groups of so many rows
 *   split_k    blocks that share a tile of C, each with its part of k
 *   grid_fixed blocks a multiprocessor of a fixed grid that takes tile after tile; 0: a block a tile
 *   blocks_wanted  blocks a multiprocessor for which registers are saved
 *   has_edges  whether sizes leave partial tiles, or lines not aligned for vec_read
 */
#include "device.cuh"
#include "element.cuh"

#define THREADS (dim_m * dim_n)
#define BLOCK_THREADS (THREADS + (way_copy == 3 ? 32 : 0))
#define TILE_M (blk_m / dim_m)
#define TILE_N (blk_n / dim_n)

/* A stripe as it lies in shared memory: lines of its contiguous side, as in global memory. */
template <bool along_k, int across, int pad> struct Stripe {
    static constexpr int lines = along_k ? across : blk_k;
    static constexpr int length = along_k ? blk_k : across;
    static constexpr int step = length + pad;
    static constexpr int size = lines * step;
    /* Where element (x across, k) lies. */
    __device__ static constexpr int at(int x, int k) { return along_k ? x * step + k : k * step + x; }
};
/* op(A) is m x k, op(B) is k x n. */
typedef Stripe<trans_a != 0, blk_m, pad_a> StripeA;
typedef Stripe<trans_b == 0, blk_n, pad_b> StripeB;
[[maybe_unused]] constexpr int STAGE = StripeA::size + StripeB::size;
[[maybe_unused]] constexpr int STAGES = way_copy >= 2 ? stage_count : 1;

/* What is left of a matrix from some corner on. */
struct Window {
    const Element *from;
    long long step;
    int lines, length;
};

template <class S, int shape> struct Reader {
    static constexpr int wide = S::length / vec_read;
    static constexpr int rows = THREADS / shape;
    static constexpr int across = (wide + shape - 1) / shape;
    static constexpr int down = (S::lines + rows - 1) / rows;
    static constexpr int bytes = vec_read * (int)sizeof(Element);

    /* Calls f(line, place, index) for each vector that this thread reads. */
    template <class F> __device__ static void each(int thread, F f) {
        const int column = thread % shape, row = thread / shape;
#pragma unroll
        for (int j = 0; j < down; j++)
#pragma unroll
            for (int i = 0; i < across; i++) {
                const int line = row + j * rows, place = (column + i * shape) * vec_read;
                const bool inside = (S::lines % rows == 0 || line < S::lines) &&
                                    (wide % shape == 0 || place < S::length);
                if (inside) f(line, place, j * across + i);
            }
    }
    __device__ static int valid(const Window &w, int line, int place) {
#if has_edges
        if (line >= w.lines) return 0;
        const int left = w.length - place;
        return left <= 0 ? 0 : left < vec_read ? left : vec_read;
#else
        return vec_read;
#endif
    }
    __device__ static void fetch_async(int thread, const Window &w, Element *to) {
        each(thread, [&](int line, int place, int) {
            const int n = valid(w, line, place);
            /* Nothing is read of what is not valid, but the address must be one. */
            const Element *from = n > 0 ? w.from + line * w.step + place : w.from;
            copy_async<bytes>(to + line * S::step + place, from, n * (int)sizeof(Element));
        });
    }
    struct Held {
        Element v[down * across][vec_read];
    };
    __device__ static void fetch(int thread, const Window &w, Held &h) {
        each(thread, [&](int line, int place, int i) {
            const int n = valid(w, line, place);
            const Element *from = w.from + line * w.step + place;
            if (n == vec_read)
                read_vector<vec_read, way_copy == 1>(h.v[i], from);
            else
#pragma unroll
                for (int e = 0; e < vec_read; e++) h.v[i][e] = e < n ? from[e] : zero();
        });
    }
    __device__ static void store(int thread, Element *to, const Held &h) {
        each(thread, [&](int line, int place, int i) {
#pragma unroll
            for (int e = 0; e < vec_read; e++) to[line * S::step + place + e] = h.v[i][e];
        });
    }
};
typedef Reader<StripeA, read_a> ReaderA;
typedef Reader<StripeB, read_b> ReaderB;

/* A thread's part of a tile. */
struct Part {
    Element c[TILE_M][TILE_N];
    int thread;
    __device__ void clear() {
#pragma unroll
        for (int i = 0; i < TILE_M; i++)
#pragma unroll
            for (int j = 0; j < TILE_N; j++) c[i][j] = zero();
    }
#if use_mma
    /* Warps stand in a grid of dim_m/8 x dim_n/4; each has TILE_M/2 x TILE_N/2 products of 16 x 8. */
    __device__ int lane() const { return thread % 32; }
    __device__ int corner_m() const { return (thread / 32) % (dim_m / 8) * (8 * TILE_M); }
    __device__ int corner_n() const { return (thread / 32) / (dim_m / 8) * (4 * TILE_N); }
    /* Rows g and g + 8 of a product lie side by side where two are read together. */
    __device__ int row(int i) const {
        const int g = lane() / 4;
        return corner_m() + i / 2 * 16 + (vec_tile == 2 ? 2 * g + i % 2 : g + i % 2 * 8);
    }
    __device__ int column(int j) const { return corner_n() + j / 2 * 8 + lane() % 4 * 2 + j % 2; }

    __device__ void multiply_add(const Element *a, const Element *b) {
        constexpr int group = use_mma < 8 ? 8 : use_mma;
        const int g = lane() / 4, t = lane() % 4;
#pragma unroll
        for (int k = 0; k < blk_k; k += group) {
            double fa[TILE_M / 2][group / 2], fb[TILE_N / 2][group / 4];
            /* Which k stands in place s of the lane does not matter, if a and b agree. */
            auto depth = [&](int s) {
                return pair_k ? k + s / 2 * 8 + 2 * t + s % 2 : k + 4 * s + t;
            };
#pragma unroll
            for (int i = 0; i < TILE_M / 2; i++)
#pragma unroll
                for (int s = 0; s < group / 4; s++) {
                    if constexpr (vec_tile == 2 && trans_a == 0)
                        read_pair(fa[i][2 * s], fa[i][2 * s + 1],
                                  a + StripeA::at(corner_m() + 16 * i + 2 * g, depth(s)));
                    else if constexpr (pair_k && trans_a != 0) {
                        if (s % 2 == 0)
#pragma unroll
                            for (int h = 0; h < 2; h++)
                                read_pair(fa[i][2 * s + h], fa[i][2 * s + 2 + h],
                                          a + StripeA::at(row(2 * i + h), depth(s)));
                    } else {
                        fa[i][2 * s] = a[StripeA::at(row(2 * i), depth(s))];
                        fa[i][2 * s + 1] = a[StripeA::at(row(2 * i + 1), depth(s))];
                    }
                }
#pragma unroll
            for (int j = 0; j < TILE_N / 2; j++)
#pragma unroll
                for (int s = 0; s < group / 4; s++) {
                    const int n = corner_n() + 8 * j + g;
                    if constexpr (pair_k && trans_b == 0) {
                        if (s % 2 == 0)
                            read_pair(fb[j][s], fb[j][s + 1], b + StripeB::at(n, depth(s)));
                    } else
                        fb[j][s] = b[StripeB::at(n, depth(s))];
                }
#pragma unroll
            for (int q = 0; q < group / use_mma; q++)
#pragma unroll
                for (int j = 0; j < TILE_N / 2; j++)
#pragma unroll
                    for (int i = 0; i < TILE_M / 2; i++) {
                        double x[4] = {c[2 * i][2 * j], c[2 * i][2 * j + 1], c[2 * i + 1][2 * j],
                                       c[2 * i + 1][2 * j + 1]};
                        double pa[use_mma / 2], pb[use_mma / 4];
#pragma unroll
                        for (int e = 0; e < use_mma / 2; e++) pa[e] = fa[i][q * use_mma / 2 + e];
#pragma unroll
                        for (int e = 0; e < use_mma / 4; e++) pb[e] = fb[j][q * use_mma / 4 + e];
                        multiply<use_mma>(x, pa, pb);
                        c[2 * i][2 * j] = x[0];
                        c[2 * i][2 * j + 1] = x[1];
                        c[2 * i + 1][2 * j] = x[2];
                        c[2 * i + 1][2 * j + 1] = x[3];
                    }
        }
    }
#else
    /* Interleaved over the threads in groups of vec_tile. */
    __device__ int row(int i) const {
        return (thread % dim_m + i / vec_tile * dim_m) * vec_tile + i % vec_tile;
    }
    __device__ int column(int j) const {
        return (thread / dim_m + j / vec_tile * dim_n) * vec_tile + j % vec_tile;
    }
    __device__ void multiply_add(const Element *a, const Element *b) {
#pragma unroll
        for (int k = 0; k < blk_k; k++) {
            Element x[TILE_M], y[TILE_N];
#pragma unroll
            for (int i = 0; i < TILE_M; i += vec_tile) {
                if constexpr (trans_a == 0 && vec_tile > 1)
                    read_vector<vec_tile, false>(&x[i], a + StripeA::at(row(i), k));
                else
#pragma unroll
                    for (int e = 0; e < vec_tile; e++) x[i + e] = a[StripeA::at(row(i + e), k)];
            }
#pragma unroll
            for (int j = 0; j < TILE_N; j += vec_tile) {
                if constexpr (trans_b != 0 && vec_tile > 1)
                    read_vector<vec_tile, false>(&y[j], b + StripeB::at(column(j), k));
                else
#pragma unroll
                    for (int e = 0; e < vec_tile; e++) y[j + e] = b[StripeB::at(column(j + e), k)];
            }
#pragma unroll
            for (int j = 0; j < TILE_N; j++)
#pragma unroll
                for (int i = 0; i < TILE_M; i++)
                    c[i][j] = add_product(conj_if<trans_a == 2>(x[i]), conj_if<trans_b == 2>(y[j]),
                                          c[i][j]);
        }
    }
#endif
    __device__ void write(Element *out, long long ldc, int m, int n, int rows, int columns,
                          Element alpha, Element beta) const {
        const bool read = !is_zero(beta);
#pragma unroll
        for (int j = 0; j < TILE_N; j++)
#pragma unroll
            for (int i = 0; i < TILE_M; i++) {
                const int x = m + row(i), y = n + column(j);
#if has_edges
                if (x >= rows || y >= columns) continue;
#endif
                Element *p = out + x + y * ldc;
                const Element v = product(alpha, c[i][j]);
#if split_k > 1
                add_atomic(p, v);
#else
                *p = read ? add_product(beta, *p, v) : v;
#endif
            }
    }
};

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
    int m, n, k, rows, columns, depth;

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

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, blocks_wanted)
gemm(int rows, int columns, int depth, Real alpha, Real alpha_im, const Element *__restrict__ a,
     int lda, const Element *__restrict__ b, int ldb, Real beta, Real beta_im,
     Element *__restrict__ c, int ldc) {
    SHARED_BYTES(raw);
    Element *stages = (Element *)raw;
    const int thread = threadIdx.x;
    const int tiles_m = (rows + blk_m - 1) / blk_m, tiles_n = (columns + blk_n - 1) / blk_n;
    const int all = tiles_m * tiles_n * split_k;
    const int steps = (depth + blk_k - 1) / blk_k, share = (steps + split_k - 1) / split_k;
    Part part;
    part.thread = thread;

#if way_copy == 3
    Barrier *full = (Barrier *)(stages + STAGES * STAGE), *empty = full + STAGES;
    if (thread == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full + s, 1);
            barrier_init(empty + s, THREADS / 32);
        }
        barriers_visible();
    }
    __syncthreads();
    int slot = 0;
    unsigned phase = 0;
#endif
    for (int job = blockIdx.x; job < all; job += gridDim.x) {
        int tm, tn;
        place(job / split_k, tiles_m, tiles_n, tm, tn);
        const int first = job % split_k * share;
        const int last = first + share < steps ? first + share : steps;
        const Stripes stripes = {a, b, lda, ldb, tm * blk_m, tn * blk_n, 0, rows, columns, depth};
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
        for (int step = first; step < last; step++) {
            wait_phase(full + slot, phase);
            const Element *from = stages + slot * STAGE;
            part.multiply_add(from, from + StripeA::size);
            __syncwarp();
            if (thread % 32 == 0) arrive(empty + slot);
            if (++slot == STAGES) slot = 0, phase ^= 1;
        }
#elif way_copy == 2
        part.clear();
        auto load = [&](int step, int slot) {
            if (step < last) {
                Element *to = stages + slot * STAGE;
                ReaderA::fetch_async(thread, stripes.of_a(step * blk_k), to);
                ReaderB::fetch_async(thread, stripes.of_b(step * blk_k), to + StripeA::size);
            }
            commit();
        };
#pragma unroll
        for (int s = 0; s < STAGES - 1; s++) load(first + s, s);
        int slot = 0, ahead = STAGES - 1;
        for (int step = first; step < last; step++) {
            wait_but<STAGES - 2>();
            __syncthreads();
            load(step + STAGES - 1, ahead);
            const Element *from = stages + slot * STAGE;
            part.multiply_add(from, from + StripeA::size);
            if (++slot == STAGES) slot = 0;
            if (++ahead == STAGES) ahead = 0;
        }
        wait_but<0>();
        __syncthreads();
#else
        part.clear();
        typename ReaderA::Held held_a;
        typename ReaderB::Held held_b;
        ReaderA::fetch(thread, stripes.of_a(first * blk_k), held_a);
        ReaderB::fetch(thread, stripes.of_b(first * blk_k), held_b);
        for (int step = first; step < last; step++) {
            ReaderA::store(thread, stages, held_a);
            ReaderB::store(thread, stages + StripeA::size, held_b);
            __syncthreads();
            if (step + 1 < last) {
                ReaderA::fetch(thread, stripes.of_a((step + 1) * blk_k), held_a);
                ReaderB::fetch(thread, stripes.of_b((step + 1) * blk_k), held_b);
            }
            part.multiply_add(stages, stages + StripeA::size);
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
