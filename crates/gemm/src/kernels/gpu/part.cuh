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
    /* The same where units lie elsewhere: for every other k, or every other eight k of an operand whose
     * pairs lie along k. */
    int odd_a, odd_b;
#endif
    __device__ explicit Part(int number) : thread(number) {
        at_a = StripeA::at(row(0), first_k());
        at_b = StripeB::at(first_n(), first_k());
#if swizzle
        odd_a = StripeA::at(row(0), first_k() + (K_PAIRS_A ? 8 : 1));
        odd_b = StripeB::at(first_n(), first_k() + (K_PAIRS_B ? 8 : 1));
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
    static constexpr int REALS = elem == 3 ? 2 : 1;
    struct Held {
        double a[REALS][TILE_M / 2][GROUP / 2], b[REALS][TILE_N / 2][GROUP / 4];
    };
    /* With swizzle 16 bytes are read at once: a complex number, two k of an operand that is contiguous
     * along k, or else two rows of A, or a column of each of two products of B. */
    static constexpr bool PAIRS = swizzle && elem == 1;
    static constexpr bool K_PAIRS_A = PAIRS && StripeA::along_k;
    static constexpr bool K_PAIRS_B = PAIRS && StripeB::along_k, N_PAIRS = PAIRS && !K_PAIRS_B;
    /* Warps stand in a grid of dim_m/8 x dim_n/4; each has TILE_M/2 x TILE_N/2 products of 16 x 8. */
    __device__ int lane() const { return thread % 32; }
    __device__ int corner_m() const { return (thread / 32) % (dim_m / 8) * (8 * TILE_M); }
    __device__ int corner_n() const { return (thread / 32) / (dim_m / 8) * (4 * TILE_N); }
    /* Rows g and g + 8 of a product lie side by side where two are read together. */
    __device__ static constexpr int row_step(int i) {
        return i / 2 * 16 + i % 2 * (vec_tile == 2 ? 1 : 8);
    }
    /* Which row or column of C stands in place x of eight does not matter either. Neighbours are four
     * apart where pairs lie along k, so that a quarter of a warp finds its own in different banks. */
    __device__ static constexpr int spread(int x) { return x % 2 * 4 + x / 2; }
    __device__ int row(int i) const {
        const int g = lane() / 4;
        return corner_m() + (K_PAIRS_A ? spread(g) : g * vec_tile) + row_step(i);
    }
    __device__ int column_of(int j, int x) const {
        return corner_n() + (N_PAIRS ? j / 2 * 16 + 2 * x + j % 2
                                     : j * 8 + (K_PAIRS_B ? spread(x) : x));
    }
    __device__ int column(int j) const { return column_of(j / 2, lane() % 4 * 2 + j % 2); }
    __device__ int first_n() const { return column_of(0, lane() / 4); }
    /* Which k stands in place s of a lane does not matter, if a and b agree. */
    __device__ int first_k() const { return lane() % 4 * (1 + pair_k); }
    __device__ static constexpr int k_step(int s) { return pair_k ? s / 2 * 8 + s % 2 : 4 * s; }

    /* Where row or column `more` (a multiple of 8) and step s of the group at k lie with swizzle. */
    template <class S> __device__ static const Element *place(const Element *even, const Element *odd,
                                                              int more, int k, int s) {
        const int eight = k / 8 + s / 2;
        if constexpr (PAIRS && S::along_k)
            return (eight % 2 ? odd : even) + S::on(eight / 2 * 16) + S::down(more);
        else if constexpr (S::along_k)
            return (s % 2 ? odd : even) + S::on(eight * 8) + S::down(more);
        else
            return (s % 2 ? odd : even) + S::on(more) + S::down(eight * 8);
    }
#if elem == 3
    __device__ void fetch_a(Held &h, const Element *stage, int k, int i) const {
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = 16 * i + 8 * half, to = 2 * s + half;
#if swizzle
                const Element *from = place<StripeA>(stage + at_a, stage + odd_a, row, k, s);
#else
                const Element *from = stage + at_a + StripeA::at(row, k + k_step(s));
#endif
                read_pair(h.a[0][i][to], h.a[1][i][to], from);
                if constexpr (trans_a == 2) h.a[1][i][to] = negative(h.a[1][i][to]);
            }
    }
    __device__ void fetch_b(Held &h, const Element *stage, int k, int j) const {
        stage += StripeA::size;
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
#if swizzle
            const Element *from = place<StripeB>(stage + at_b, stage + odd_b, 8 * j, k, s);
#else
            const Element *from = stage + at_b + StripeB::at(8 * j, k + k_step(s));
#endif
            read_pair(h.b[0][j][s], h.b[1][j][s], from);
            if constexpr (trans_b == 2) h.b[1][j][s] = negative(h.b[1][j][s]);
        }
    }
#elif swizzle
    __device__ void fetch_a(Held &h, const Element *stage, int k, int i) const {
        double(&a)[GROUP / 2] = h.a[0][i];
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
            const Element *from = place<StripeA>(stage + at_a, stage + odd_a, 16 * i, k, s);
            if constexpr (!K_PAIRS_A)
                read_pair(a[2 * s], a[2 * s + 1], from);
            else if (s % 2 == 0) {
                read_pair(a[2 * s], a[2 * s + 2], from);
                read_pair(a[2 * s + 1], a[2 * s + 3], from + StripeA::down(8));
            }
        }
    }
    __device__ void fetch_b(Held &h, const Element *stage, int k, int j) const {
        double(&b)[TILE_N / 2][GROUP / 4] = h.b[0];
        stage += StripeA::size;
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
            if constexpr (K_PAIRS_B) {
                if (s % 2 == 0)
                    read_pair(b[j][s], b[j][s + 1],
                              place<StripeB>(stage + at_b, stage + odd_b, 8 * j, k, s));
            } else if (j % 2)
                read_pair(b[j - 1][s], b[j][s],
                          place<StripeB>(stage + at_b, stage + odd_b, 8 * (j - 1), k, s));
        }
    }
#else
    __device__ void fetch_a(Held &h, const Element *stage, int k, int i) const {
        double(&a)[GROUP / 2] = h.a[0][i];
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
            const Element *from = stage + at_a + StripeA::at(row_step(2 * i), k + k_step(s));
            const Element *next = stage + at_a + StripeA::at(row_step(2 * i + 1), k + k_step(s));
            if constexpr (vec_tile == 2 && trans_a == 0)
                read_pair(a[2 * s], a[2 * s + 1], from);
            else if constexpr (pair_k && trans_a != 0) {
                if (s % 2 == 0) {
                    read_pair(a[2 * s], a[2 * s + 2], from);
                    read_pair(a[2 * s + 1], a[2 * s + 3], next);
                }
            } else {
                a[2 * s] = *from;
                a[2 * s + 1] = *next;
            }
        }
    }
    __device__ void fetch_b(Held &h, const Element *stage, int k, int j) const {
        double(&b)[GROUP / 4] = h.b[0][j];
#pragma unroll
        for (int s = 0; s < GROUP / 4; s++) {
            const Element *from =
                stage + StripeA::size + at_b + StripeB::at(8 * j, k + k_step(s));
            if constexpr (pair_k && trans_b == 0) {
                if (s % 2 == 0) read_pair(b[s], b[s + 1], from);
            } else
                b[s] = *from;
        }
    }
#endif
    __device__ void fetch(Held &h, const Element *stage, int k) const {
#pragma unroll
        for (int j = 0; j < TILE_N / 2; j++) fetch_b(h, stage, k, j);
#pragma unroll
        for (int i = 0; i < TILE_M / 2; i++) fetch_a(h, stage, k, i);
    }
    /* v += the product of one real number of each factor, or less it. */
    template <bool less = false>
    __device__ static void step(double (&v)[4], const double (&a)[GROUP / 2],
                                const double (&b)[GROUP / 4]) {
#pragma unroll
        for (int q = 0; q < GROUP / use_mma; q++) {
            double pa[use_mma / 2], pb[use_mma / 4];
#pragma unroll
            for (int e = 0; e < use_mma / 2; e++) pa[e] = a[q * use_mma / 2 + e];
#pragma unroll
            for (int e = 0; e < use_mma / 4; e++) {
                pb[e] = b[q * use_mma / 4 + e];
#if elem == 3
                if constexpr (less) pb[e] = negative(pb[e]);
#endif
            }
            multiply<use_mma>(v, pa, pb);
        }
    }
    /* The product of 16 x 8 in row i and column j. */
    __device__ void multiply_one(const Held &h, int i, int j) {
        Element *at[4] = {&c[2 * i][2 * j], &c[2 * i][2 * j + 1], &c[2 * i + 1][2 * j],
                          &c[2 * i + 1][2 * j + 1]};
        double v[REALS][4];
#pragma unroll
        for (int x = 0; x < 4; x++) {
#if elem == 3
            v[0][x] = at[x]->re;
            v[1][x] = at[x]->im;
#else
            v[0][x] = *at[x];
#endif
        }
        step(v[0], h.a[0][i], h.b[0][j]);
#if elem == 3
        step(v[1], h.a[0][i], h.b[1][j]);
        step<true>(v[0], h.a[1][i], h.b[1][j]);
        step(v[1], h.a[1][i], h.b[0][j]);
#endif
#pragma unroll
        for (int x = 0; x < 4; x++) {
#if elem == 3
            at[x]->re = v[0][x];
            at[x]->im = v[1][x];
#else
            *at[x] = v[0][x];
#endif
        }
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
            if constexpr (!StripeA::along_k && vec_tile > 1)
                read_vector<vec_tile, false>(&h.a[i], from_a + StripeA::at(row_step(i), k));
            else
#pragma unroll
                for (int e = 0; e < vec_tile; e++)
                    h.a[i + e] = from_a[StripeA::at(row_step(i + e), k)];
        }
#pragma unroll
        for (int j = 0; j < TILE_N; j += vec_tile) {
            if constexpr (!StripeB::along_k && vec_tile > 1)
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
