/* What a thread computes: its part of a tile of C, product by product or on the tensor cores. */
#pragma once
#include "stripe.cuh"

/* A thread's part of a tile. */
struct Part {
    Element c[TILE_M][TILE_N];
    int thread;
    /* Where this thread's first factors lie in a stripe; all others lie a constant further. */
    int at_a, at_b;
#if swizzle
    /* The same for every other k of A, and for every other eight k of B: there pairs lie elsewhere. */
    int odd_a, odd_b;
#endif
    __device__ explicit Part(int number) : thread(number) {
        at_a = StripeA::at(row(0), first_k());
        at_b = StripeB::at(first_n(), first_k());
#if swizzle
        odd_a = StripeA::at(row(0), first_k() + 1);
        odd_b = StripeB::at(first_n(), first_k() + 8);
#endif
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
    /* Which column of C stands in place x of eight does not matter either. With swizzle neighbours
     * are four apart, so that a quarter of a warp finds its pairs of B in different banks. */
    __device__ static constexpr int place_n(int x) { return swizzle ? x % 2 * 4 + x / 2 : x; }
    __device__ int column(int j) const {
        return corner_n() + j / 2 * 8 + place_n(lane() % 4 * 2 + j % 2);
    }
    __device__ int first_n() const { return corner_n() + place_n(lane() / 4); }
    /* Which k stands in place s of a lane does not matter, if a and b agree. */
    __device__ int first_k() const { return lane() % 4 * (1 + pair_k); }
    __device__ static constexpr int k_step(int s) { return pair_k ? s / 2 * 8 + s % 2 : 4 * s; }

    __device__ void fetch_a(Held &h, const Element *stage, int k, int i) const {
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
#if swizzle
            const Element *from = stage + (s % 2 ? odd_a : at_a) + StripeA::on(16 * i) +
                                  StripeA::down(k + 8 * (s / 2));
            read_pair(h.a[i][2 * s], h.a[i][2 * s + 1], from);
#else
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
#endif
        }
    }
    __device__ void fetch_b(Held &h, const Element *stage, int k, int j) const {
#if swizzle
#pragma unroll
        for (int s = 0; s < GROUP / 4; s += 2) {
            const int eight = k / 8 + s / 2;
            const Element *from = stage + StripeA::size + (eight % 2 ? odd_b : at_b) +
                                  StripeB::down(8 * j) + StripeB::on(eight / 2 * 16);
            read_pair(h.b[j][s], h.b[j][s + 1], from);
        }
#else
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
            const Element *from =
                stage + StripeA::size + at_b + StripeB::at(8 * j, k + k_step(s));
            if constexpr (pair_k && trans_b == 0) {
                if (s % 2 == 0) read_pair(h.b[j][s], h.b[j][s + 1], from);
            } else
                h.b[j][s] = *from;
        }
#endif
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
#if lanes
    /* A warp is 8 x 4. Lanes that differ in their lowest bit read the same of A, those that differ in
     * the next the same of B: so two quarters of a warp share a read of 16 bytes a lane. */
    __device__ int place_m() const {
        return thread / 32 % (dim_m / 8) * 8 + thread / 2 % 8;
    }
    __device__ int place_n() const {
        return thread / 32 / (dim_m / 8) * 4 + thread % 2 + thread / 16 % 2 * 2;
    }
#else
    __device__ int place_m() const { return thread % dim_m; }
    __device__ int place_n() const { return thread / dim_m; }
#endif
    __device__ int row(int i) const { return place_m() * vec_tile + row_step(i); }
    __device__ int column(int j) const { return place_n() * vec_tile + column_step(j); }
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
        /* To and fro, so that neighbours in time share a factor. */
#pragma unroll
        for (int j = 0; j < TILE_N; j++)
#pragma unroll
            for (int x = 0; x < TILE_M; x++) {
                const int i = j % 2 ? TILE_M - 1 - x : x;
                c[i][j] = add_product(conj_if<trans_a == 2>(h.a[i]), conj_if<trans_b == 2>(h.b[j]),
                                      c[i][j]);
            }
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
