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
 *   parts_ahead  factors are fetched from shared memory 0 when they are needed; 1 a group ahead, into
 *              registers of their own; 2 in place, each as soon as the one before is used up
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
    /* Whole tiles are read along pointers that walk, a step of k after the other. */
    static constexpr bool even = has_edges == 0 && S::lines % rows == 0 && wide % shape == 0;
    struct Walk {
        const Element *from;
        long long down_step;
        int to;
        __device__ Walk(int thread, const Window &w) {
            const int column = thread % shape * vec_read, row = thread / shape;
            from = w.from + row * w.step + column;
            down_step = rows * w.step;
            to = row * S::step + column;
        }
        __device__ void fetch_async(Element *stage, long long advance) {
            const Element *line = from;
            Element *place = stage + to;
#pragma unroll
            for (int j = 0; j < down; j++) {
#pragma unroll
                for (int i = 0; i < across; i++)
                    copy_async<bytes>(place + j * rows * S::step + i * shape * vec_read,
                                      line + i * shape * vec_read, bytes);
                line += down_step;
            }
            from += advance;
        }
    };
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
    /* Where this thread's first factors lie in a stripe; all others lie a constant further. */
    int at_a, at_b;
    __device__ explicit Part(int number) : thread(number) {
        at_a = StripeA::at(row(0), first_k());
        at_b = StripeB::at(first_n(), first_k());
    }
    __device__ void clear() {
#pragma unroll
        for (int i = 0; i < TILE_M; i++)
#pragma unroll
            for (int j = 0; j < TILE_N; j++) c[i][j] = zero();
    }
#if use_mma
    /* Steps of k whose factors are held together. */
    static constexpr int GROUP = use_mma < 8 ? 8 : use_mma;
    struct Held {
        double a[TILE_M / 2][GROUP / 2], b[TILE_N / 2][GROUP / 4];
    };
    /* Warps stand in a grid of dim_m/8 x dim_n/4; each has TILE_M/2 x TILE_N/2 products of 16 x 8. */
    __device__ int lane() const { return thread % 32; }
    __device__ int corner_m() const { return (thread / 32) % (dim_m / 8) * (8 * TILE_M); }
    __device__ int corner_n() const { return (thread / 32) / (dim_m / 8) * (4 * TILE_N); }
    /* Rows g and g + 8 of a product lie side by side where two are read together. */
    __device__ static constexpr int row_step(int i) {
        return i / 2 * 16 + i % 2 * (vec_tile == 2 ? 1 : 8);
    }
    __device__ int row(int i) const { return corner_m() + lane() / 4 * vec_tile + row_step(i); }
    __device__ int column(int j) const { return corner_n() + j / 2 * 8 + lane() % 4 * 2 + j % 2; }
    __device__ int first_n() const { return corner_n() + lane() / 4; }
    /* Which k stands in place s of a lane does not matter, if a and b agree. */
    __device__ int first_k() const { return lane() % 4 * (1 + pair_k); }
    __device__ static constexpr int k_step(int s) { return pair_k ? s / 2 * 8 + s % 2 : 4 * s; }

    __device__ void fetch_a(Held &h, const Element *stage, int k, int i) const {
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
            const Element *from = stage + at_a + StripeA::at(row_step(2 * i), k + k_step(s));
            const Element *next = stage + at_a + StripeA::at(row_step(2 * i + 1), k + k_step(s));
            if constexpr (vec_tile == 2 && trans_a == 0)
                read_pair(h.a[i][2 * s], h.a[i][2 * s + 1], from);
            else if constexpr (pair_k && trans_a != 0) {
                if (s % 2 == 0) {
                    read_pair(h.a[i][2 * s], h.a[i][2 * s + 2], from);
                    read_pair(h.a[i][2 * s + 1], h.a[i][2 * s + 3], next);
                }
            } else {
                h.a[i][2 * s] = *from;
                h.a[i][2 * s + 1] = *next;
            }
        }
    }
    __device__ void fetch_b(Held &h, const Element *stage, int k, int j) const {
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
            const Element *from =
                stage + StripeA::size + at_b + StripeB::at(8 * j, k + k_step(s));
            if constexpr (pair_k && trans_b == 0) {
                if (s % 2 == 0) read_pair(h.b[j][s], h.b[j][s + 1], from);
            } else
                h.b[j][s] = *from;
        }
    }
    __device__ void fetch(Held &h, const Element *stage, int k) const {
#pragma unroll
        for (int j = 0; j < TILE_N / 2; j++) fetch_b(h, stage, k, j);
#pragma unroll
        for (int i = 0; i < TILE_M / 2; i++) fetch_a(h, stage, k, i);
    }
    /* The product of 16 x 8 in row i and column j. */
    __device__ void multiply_one(const Held &h, int i, int j) {
        double v[4] = {c[2 * i][2 * j], c[2 * i][2 * j + 1], c[2 * i + 1][2 * j],
                       c[2 * i + 1][2 * j + 1]};
#pragma unroll
        for (int q = 0; q < GROUP / use_mma; q++) {
            double pa[use_mma / 2], pb[use_mma / 4];
#pragma unroll
            for (int e = 0; e < use_mma / 2; e++) pa[e] = h.a[i][q * use_mma / 2 + e];
#pragma unroll
            for (int e = 0; e < use_mma / 4; e++) pb[e] = h.b[j][q * use_mma / 4 + e];
            multiply<use_mma>(v, pa, pb);
        }
        c[2 * i][2 * j] = v[0];
        c[2 * i][2 * j + 1] = v[1];
        c[2 * i + 1][2 * j] = v[2];
        c[2 * i + 1][2 * j + 1] = v[3];
    }
    /* To and fro, so that neighbours in time share a factor. */
    __device__ void multiply_add(const Held &h) {
#pragma unroll
        for (int j = 0; j < TILE_N / 2; j++)
#pragma unroll
            for (int x = 0; x < TILE_M / 2; x++)
                multiply_one(h, j % 2 ? TILE_M / 2 - 1 - x : x, j);
    }
    /* Each factor is replaced by that of the next group as soon as it is used up. */
    __device__ void multiply_roll(Held &h, const Element *next, int k) {
#pragma unroll
        for (int i = 0; i < TILE_M / 2; i++) {
#pragma unroll
            for (int j = 0; j < TILE_N / 2; j++) {
                multiply_one(h, i, j);
                if (i + 1 == TILE_M / 2) fetch_b(h, next, k, j);
            }
            fetch_a(h, next, k, i);
        }
    }
#else
    static constexpr int GROUP = 1;
    struct Held {
        Element a[TILE_M], b[TILE_N];
    };
    /* Interleaved over the threads in groups of vec_tile. */
    __device__ static constexpr int row_step(int i) {
        return i / vec_tile * dim_m * vec_tile + i % vec_tile;
    }
    __device__ static constexpr int column_step(int j) {
        return j / vec_tile * dim_n * vec_tile + j % vec_tile;
    }
    __device__ int row(int i) const { return thread % dim_m * vec_tile + row_step(i); }
    __device__ int column(int j) const { return thread / dim_m * vec_tile + column_step(j); }
    __device__ int first_n() const { return column(0); }
    __device__ int first_k() const { return 0; }

    __device__ void fetch(Held &h, const Element *stage, int k) const {
        const Element *from_a = stage + at_a, *from_b = stage + StripeA::size + at_b;
#pragma unroll
        for (int i = 0; i < TILE_M; i += vec_tile) {
            if constexpr (trans_a == 0 && vec_tile > 1)
                read_vector<vec_tile, false>(&h.a[i], from_a + StripeA::at(row_step(i), k));
            else
#pragma unroll
                for (int e = 0; e < vec_tile; e++)
                    h.a[i + e] = from_a[StripeA::at(row_step(i + e), k)];
        }
#pragma unroll
        for (int j = 0; j < TILE_N; j += vec_tile) {
            if constexpr (trans_b != 0 && vec_tile > 1)
                read_vector<vec_tile, false>(&h.b[j], from_b + StripeB::at(column_step(j), k));
            else
#pragma unroll
                for (int e = 0; e < vec_tile; e++)
                    h.b[j + e] = from_b[StripeB::at(column_step(j + e), k)];
        }
    }
    __device__ void multiply_add(const Held &h) {
#pragma unroll
        for (int j = 0; j < TILE_N; j++)
#pragma unroll
            for (int i = 0; i < TILE_M; i++)
                c[i][j] = add_product(conj_if<trans_a == 2>(h.a[i]), conj_if<trans_b == 2>(h.b[j]),
                                      c[i][j]);
    }
#endif
    static constexpr int GROUPS = blk_k / GROUP;

    /* All of a stage, its factors fetched as they are needed. */
    __device__ void multiply_stage(const Element *stage) {
#pragma unroll
        for (int k = 0; k < blk_k; k += GROUP) {
            Held h;
            fetch(h, stage, k);
            multiply_add(h);
        }
    }
    /* All of a stage whose first factors are held already; those of the next group are fetched beside
     * the products. `early` runs before the first products, `next` before the last: it gives the
     * stage whose first factors are then fetched. */
    template <class Early, class Next>
    __device__ void multiply_ahead(Held (&h)[2], const Element *stage, Early early, Next next) {
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            if (g == 0) early();
            const Element *from = g + 1 < GROUPS ? stage : next();
            const int k = (g + 1) % GROUPS * GROUP;
#if parts_ahead == 1
            fetch(h[(g + 1) % 2], from, k);
            multiply_add(h[g % 2]);
#elif parts_ahead == 2
            multiply_roll(h[0], from, k);
#endif
        }
    }
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
    [[maybe_unused]] const int all = tiles_m * tiles_n * split_k;
    const int steps = (depth + blk_k - 1) / blk_k, share = (steps + split_k - 1) / split_k;
    Part part(thread);

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
        auto done = [&] {
            __syncwarp();
            if (thread % 32 == 0) arrive(empty + slot);
            if (++slot == STAGES) slot = 0, phase ^= 1;
        };
#if parts_ahead
        Part::Held held[2];
        wait_phase(full + slot, phase);
        part.fetch(held[0], stages + slot * STAGE, 0);
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
#elif way_copy == 2
        part.clear();
        [[maybe_unused]] typename ReaderA::Walk walk_a(thread, stripes.of_a(first * blk_k));
        [[maybe_unused]] typename ReaderB::Walk walk_b(thread, stripes.of_b(first * blk_k));
        auto load = [&](int step, int slot) {
            if (step < last) {
                Element *to = stages + slot * STAGE;
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
#pragma unroll
        for (int s = 0; s < STAGES - 1; s++) load(first + s, s);
        int slot = 0;
        auto arrived = [] {
            wait_but<STAGES - 2>();
            __syncthreads();
        };
        auto load_next = [&](int step) {
            load(step + STAGES - 1, slot == 0 ? STAGES - 1 : slot - 1);
        };
#if parts_ahead
        Part::Held held[2];
        arrived();
        part.fetch(held[0], stages, 0);
        for (int step = first; step < last; step++)
            part.multiply_ahead(held, stages + slot * STAGE, [&] { load_next(step); }, [&] {
                arrived();
                if (++slot == STAGES) slot = 0;
                return (const Element *)stages + slot * STAGE;
            });
#else
        for (int step = first; step < last; step++) {
            arrived();
            load_next(step);
            part.multiply_stage(stages + slot * STAGE);
            if (++slot == STAGES) slot = 0;
        }
#endif
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
