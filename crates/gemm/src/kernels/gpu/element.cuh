/* Elements of a matrix: elem 0 float, 1 double, 2 complex float, 3 complex double. */
#pragma once

#if elem == 0 || elem == 2
typedef float Real;
#else
typedef double Real;
#endif

#if elem < 2
typedef Real Element;
__device__ inline Element zero() { return 0; }
__device__ inline Element element(Real re, Real) { return re; }
__device__ inline bool is_zero(Element x) { return x == 0; }
__device__ inline Element product(Element x, Element y) { return x * y; }
__device__ inline Element add_product(Element x, Element y, Element z) { return x * y + z; }
template <bool yes> __device__ inline Element conj_if(Element x) { return x; }
__device__ inline void add_atomic(Element *p, Element v) { atomicAdd(p, v); }
#else
struct alignas(2 * sizeof(Real)) Element {
    Real re, im;
};
__device__ inline Element zero() { return {0, 0}; }
__device__ inline Element element(Real re, Real im) { return {re, im}; }
__device__ inline bool is_zero(Element x) { return x.re == 0 && x.im == 0; }
__device__ inline Element add_product(Element x, Element y, Element z) {
    z.re += x.re * y.re;
    z.im += x.re * y.im;
    z.re -= x.im * y.im;
    z.im += x.im * y.re;
    return z;
}
__device__ inline Element product(Element x, Element y) { return add_product(x, y, zero()); }
template <bool yes> __device__ inline Element conj_if(Element x) {
    return {x.re, yes ? -x.im : x.im};
}
__device__ inline void add_atomic(Element *p, Element v) {
    atomicAdd(&p->re, v.re);
    atomicAdd(&p->im, v.im);
}
#endif

/* Elements of 16 bytes, and of a line of 128. */
[[maybe_unused]] constexpr int UNIT = 16 / (int)sizeof(Element), PANEL = 8 * UNIT;

template <int n> struct alignas(n * sizeof(Element)) Vector {
    Element v[n];
};

/* What the read-only path brings, by size. */
template <int bytes> struct Word;
template <> struct Word<4> {
    typedef unsigned type;
};
template <> struct Word<8> {
    typedef uint2 type;
};
template <> struct Word<16> {
    typedef uint4 type;
};

/* Reads n elements at once (n sizeof(Element) at most 16, aligned to it); by the read-only path
 * where asked. */
template <int n, bool only> __device__ inline void read_vector(Element *to, const Element *from) {
    typedef typename Word<(int)sizeof(Vector<n>)>::type Whole;
    union {
        Whole whole;
        Vector<n> vector;
    } x;
    x.whole = only ? __ldg((const Whole *)from) : *(const Whole *)from;
#pragma unroll
    for (int i = 0; i < n; i++) to[i] = x.vector.v[i];
}

/* An array, as textures know it. */
struct Source {
    const Element *array;
    Texture texture_of;
};
/* The same by a texture whose texels are these vectors. */
template <int n>
__device__ inline void read_texture(Element *to, const Source &source, const Element *from) {
    union {
        unsigned texels[n * sizeof(Element) / 4];
        Vector<n> vector;
    } x;
    read_texels(x.texels, source.texture_of, (int)((from - source.array) / n));
#pragma unroll
    for (int i = 0; i < n; i++) to[i] = x.vector.v[i];
}

#if elem == 1
__device__ inline void read_pair(double &x, double &y, const Element *from) {
    const double2 v = *(const double2 *)from;
    x = v.x;
    y = v.y;
}
#elif elem == 3
__device__ inline void read_pair(double &re, double &im, const Element *from) {
    const double2 v = *(const double2 *)from;
    re = v.x;
    im = v.y;
}
/* By its sign alone: the arithmetic units are busy. */
__device__ inline double negative(double x) {
#ifdef GREENUP_SHIM
    return -x;
#else
    return __hiloint2double(__double2hiint(x) ^ (int)0x80000000, __double2loint(x));
#endif
}
#endif
