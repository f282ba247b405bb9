/* Stripes of A and B: how they lie in shared memory, and how threads bring them there. */
#pragma once
#include "device.cuh"
#include "element.cuh"

#define THREADS (dim_m * dim_n)
#define BLOCK_THREADS (THREADS + (way_copy == 3 ? 32 : 0))
#define TILE_M (blk_m / dim_m)
#define TILE_N (blk_n / dim_n)

/* A stripe as it lies in shared memory: lines of its contiguous side, as in global memory; or, with
 * swizzle, panels of 16 doubles along that side, in which the pairs of a line change places with its
 * number, as the copy engine does it. */
template <bool along_k, int across, int pad> struct Stripe {
    static constexpr int lines = along_k ? across : blk_k;
    static constexpr int length = along_k ? blk_k : across;
    static constexpr int step = length + pad;
    static constexpr int size = lines * step;
    /* How far it is to the next line but n (a multiple of 8 with swizzle), and n elements on (of 16). */
    __device__ static constexpr int down(int n) { return n * (swizzle ? 16 : step); }
    __device__ static constexpr int on(int n) { return swizzle ? n * lines : n; }
    /* Where an element of a line lies. */
    __device__ static constexpr int slot(int line, int place) {
        return swizzle ? on(place / 16 * 16) + down(line) + (place / 2 % 8 ^ line % 8) * 2 + place % 2
                       : down(line) + place;
    }
    /* Where element (x across, k) lies. */
    __device__ static constexpr int at(int x, int k) { return along_k ? slot(x, k) : slot(k, x); }
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
            to = S::slot(row, column);
        }
        __device__ void fetch_async(Element *stage, long long advance) {
            const Element *line = from;
            Element *place = stage + to;
#pragma unroll
            for (int j = 0; j < down; j++) {
#pragma unroll
                for (int i = 0; i < across; i++)
                    copy_async<bytes>(place + S::down(j * rows) + S::on(i * shape * vec_read),
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
            copy_async<bytes>(to + S::slot(line, place), from, n * (int)sizeof(Element));
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
            for (int e = 0; e < vec_read; e++) to[S::slot(line, place) + e] = h.v[i][e];
        });
    }
};
typedef Reader<StripeA, read_a> ReaderA;
typedef Reader<StripeB, read_b> ReaderB;
