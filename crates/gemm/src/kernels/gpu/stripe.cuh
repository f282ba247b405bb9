/* Stripes of A and B: how they lie in shared memory, and how threads bring them there. */
#pragma once
#include "device.cuh"
#include "element.cuh"

#define THREADS (dim_m * dim_n)
#define BLOCK_THREADS (THREADS + (way_copy == 3 ? 32 : 0))
#define TILE_M (blk_m / dim_m)
#define TILE_N (blk_n / dim_n)

/* A stripe as it lies in shared memory: lines of its contiguous side, as in global memory; turned,
 * lines across k, whichever side is contiguous there; with swizzle, panels of 128 bytes along that
 * side, in which the units of 16 bytes of a line change places with its number, as the copy engine
 * does it. */
template <bool k_side, int across, int pad> struct Stripe {
    /* In global memory. */
    static constexpr int from_lines = k_side ? across : blk_k;
    static constexpr int from_length = k_side ? blk_k : across;
    static constexpr bool is_turned = turn && k_side, along_k = k_side && !is_turned;
    static constexpr int lines = along_k ? across : blk_k;
    static constexpr int length = along_k ? blk_k : across;
    static constexpr int step = length + pad;
    static constexpr int size = lines * step;
    /* Elements of a read: what is turned is scattered one by one. */
    static constexpr int vector = is_turned ? 1 : vec_read;
    /* How far it is to the next line but n (a multiple of 8 with swizzle), and n elements on (whole
     * panels with swizzle). */
    __device__ static constexpr int down(int n) { return n * (swizzle ? PANEL : step); }
    __device__ static constexpr int on(int n) { return swizzle ? n * lines : n; }
    /* Where an element of a line lies. */
    __device__ static constexpr int slot(int line, int place) {
        return swizzle ? on(place / PANEL * PANEL) + down(line) +
                             (place / UNIT % 8 ^ line % 8) * UNIT + place % UNIT
                       : down(line) + place;
    }
    /* Where element (x across, k) lies. */
    __device__ static constexpr int at(int x, int k) { return along_k ? slot(x, k) : slot(k, x); }
    /* Where an element of a line of global memory goes, and how far it is from there to others. */
    __device__ static constexpr int to(int line, int place) {
        return is_turned ? slot(place, line) : slot(line, place);
    }
    __device__ static constexpr int beyond(int more_lines, int more_places) {
        return is_turned ? down(more_places) + more_lines : down(more_lines) + on(more_places);
    }
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

/* Reads a vector of global memory, by textures where asked. */
template <int n> __device__ inline void read_global(Element *to, const Element *from,
                                                    [[maybe_unused]] const Source &source) {
#if texture
    read_texture<n>(to, source, from);
#else
    read_vector<n, way_copy == 1>(to, from);
#endif
}

template <class S, int shape> struct Reader {
    static constexpr int vector = S::vector;
    static constexpr int wide = S::from_length / vector;
    static constexpr int rows = THREADS / shape;
    static constexpr int across = (wide + shape - 1) / shape;
    static constexpr int down = (S::from_lines + rows - 1) / rows;
    static constexpr int bytes = vector * (int)sizeof(Element);
    /* Whether the lines of global memory run along k. */
    static constexpr bool along_k = S::along_k || S::is_turned;

    /* Calls f(line, place, index) for each vector that this thread reads. */
    template <class F> __device__ static void each(int thread, F f) {
        const int column = thread % shape, row = thread / shape;
#pragma unroll
        for (int j = 0; j < down; j++)
#pragma unroll
            for (int i = 0; i < across; i++) {
                const int line = row + j * rows, place = (column + i * shape) * vector;
                const bool inside = (S::from_lines % rows == 0 || line < S::from_lines) &&
                                    (wide % shape == 0 || place < S::from_length);
                if (inside) f(line, place, j * across + i);
            }
    }
    /* How many elements of a vector there are; brings line and place back to some that are. Sizes
     * are whole vectors. Clipped, only what lies beyond the end of k counts as missing: the rest goes
     * to elements of C that nobody writes. */
    __device__ static int valid([[maybe_unused]] const Window &w, [[maybe_unused]] int &line,
                                [[maybe_unused]] int &place) {
#if has_edges
        const bool beyond_lines = line >= w.lines, beyond = place >= w.length;
#if edges
        if (beyond_lines) line = w.lines - 1;
        if (beyond) place = w.length - vector;
        return (along_k ? beyond : beyond_lines) ? 0 : vector;
#else
        if (beyond_lines || beyond) {
            line = place = 0;
            return 0;
        }
#endif
#endif
        return vector;
    }
    /* Whole tiles are read along pointers that walk, a step of k after the other. */
    static constexpr bool even = has_edges == 0 && S::from_lines % rows == 0 && wide % shape == 0;
    struct Walk {
        const Element *from;
        long long down_step;
        int to;
        __device__ Walk(int thread, const Window &w) {
            const int column = thread % shape * vector, row = thread / shape;
            from = w.from + row * w.step + column;
            down_step = rows * w.step;
            to = S::to(row, column);
        }
        __device__ void fetch_async(Element *stage, long long advance) {
            const Element *line = from;
            Element *place = stage + to;
#pragma unroll
            for (int j = 0; j < down; j++) {
#pragma unroll
                for (int i = 0; i < across; i++)
                    copy_async<bytes>(place + S::beyond(j * rows, i * shape * vector),
                                      line + i * shape * vector, bytes);
                line += down_step;
            }
            from += advance;
        }
    };
    __device__ static void fetch_async(int thread, const Window &w, Element *to) {
        each(thread, [&](int line, int place, int) {
            Element *there = to + S::to(line, place);
            const int n = valid(w, line, place);
            copy_async<bytes>(there, w.from + line * w.step + place, n * (int)sizeof(Element));
        });
    }
    struct Held {
        Element v[down * across][vector];
    };
    __device__ static void fetch(int thread, const Window &w, Held &h, const Source &source) {
        each(thread, [&](int line, int place, int i) {
            const int n = valid(w, line, place);
            if (n > 0)
                read_global<vector>(h.v[i], w.from + line * w.step + place, source);
            else
#pragma unroll
                for (int e = 0; e < vector; e++) h.v[i][e] = zero();
        });
    }
    __device__ static void store(int thread, Element *to, const Held &h) {
        each(thread, [&](int line, int place, int i) {
#pragma unroll
            for (int e = 0; e < vector; e++) to[S::to(line, place + e)] = h.v[i][e];
        });
    }
};
typedef Reader<StripeA, read_a> ReaderA;
typedef Reader<StripeB, read_b> ReaderB;
