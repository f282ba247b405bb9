// Zones by sums of factors: vectors hold one number of each of several zones. Compiled for each dimension D and order K
// (energies of order K - 1); K = 0 is any order, by numbers known at run time.
#include <math.h>
#include <string.h>
#include "point.h"

#define W (VBYTES / 8)
typedef double v __attribute__((vector_size(VBYTES), aligned(8), may_alias));

// One-dimensional tables of a run: values and gradients of the kinematic basis [q][n], energies' [q][e], and their
// transposes; sizes are n = k + 1, e, q.
typedef struct {
    int n, e, q;
    const double *value, *gradient, *energy, *value_t, *slope_t, *energy_t;
} tables;

#if K
#define SIZES enum { N = K + 1, E = K, Q = 2 * K }; (void)t
#else
#define SIZES const int N = t->n, E = t->e, Q = t->q; (void)E
#endif

#define INLINE static inline __attribute__((always_inline))
#define CUBE(x) (D == 1 ? (x) : D == 2 ? (x) * (x) : (x) * (x) * (x))
#define LARGER(x, y) ((x) > (y) ? (x) : (y))

// out[a][r][b] (+)= sum over i of m[r][i] in[a][i][b].
INLINE void along(const double *m, int rows, int from, int outer, int inner, const v *restrict in, v *restrict out,
                  int add) {
    for (int a = 0; a < outer; a++)
        for (int b = 0; b < inner; b++)
            for (int r = 0; r < rows; r++) {
                v s = m[r * from] * in[a * from * inner + b];
                for (int i = 1; i < from; i++) s += m[r * from + i] * in[(a * from + i) * inner + b];
                v *to = out + (a * rows + r) * inner + b;
                if (add) s += *to;
                *to = s;
            }
}

// Values at the points; scratch holds twice the larger of both sizes.
INLINE void values(const double *m, int q, int n, const v *in, v *out, v *scratch) {
#if D == 1
    (void)scratch;
    along(m, q, n, 1, 1, in, out, 0);
#elif D == 2
    along(m, q, n, n, 1, in, scratch, 0);
    along(m, q, n, 1, q, scratch, out, 0);
#else
    v *other = scratch + q * n * n;
    along(m, q, n, n * n, 1, in, scratch, 0);
    along(m, q, n, n, q, scratch, other, 0);
    along(m, q, n, 1, q * q, other, out, 0);
#endif
}

// Their transpose: points to coefficients.
INLINE void gathered(const double *m, int q, int n, const v *in, v *out, v *scratch) {
#if D == 1
    (void)scratch;
    along(m, n, q, 1, 1, in, out, 0);
#elif D == 2
    along(m, n, q, 1, q, in, scratch, 0);
    along(m, n, q, n, 1, scratch, out, 0);
#else
    v *other = scratch + q * q * n;
    along(m, n, q, 1, q * q, in, scratch, 0);
    along(m, n, q, n, q, scratch, other, 0);
    along(m, n, q, n * n, 1, other, out, 0);
#endif
}

// Slopes at the points, a plane of points for each direction.
INLINE void gradients(const double *b, const double *g, int q, int n, const v *in, v *out, v *scratch) {
    const int all = CUBE(q);
    (void)all, (void)scratch, (void)b;
#if D == 1
    along(g, q, n, 1, 1, in, out, 0);
#elif D == 2
    v *plain = scratch, *steep = scratch + q * n;
    along(b, q, n, n, 1, in, plain, 0);
    along(g, q, n, n, 1, in, steep, 0);
    along(b, q, n, 1, q, steep, out, 0);
    along(g, q, n, 1, q, plain, out + all, 0);
#else
    v *plain = scratch, *steep = plain + q * n * n, *xx = steep + q * n * n;
    v *xy = xx + q * q * n, *yy = xy + q * q * n;
    along(b, q, n, n * n, 1, in, plain, 0);
    along(g, q, n, n * n, 1, in, steep, 0);
    along(b, q, n, n, q, steep, xx, 0);
    along(g, q, n, n, q, plain, xy, 0);
    along(b, q, n, n, q, plain, yy, 0);
    along(b, q, n, 1, q * q, xx, out, 0);
    along(b, q, n, 1, q * q, xy, out + all, 0);
    along(g, q, n, 1, q * q, yy, out + 2 * all, 0);
#endif
}

// Their transpose.
INLINE void divergence(const double *b, const double *g, int q, int n, const v *in, v *out, v *scratch) {
    const int all = CUBE(q);
    (void)all, (void)scratch, (void)b;
#if D == 1
    along(g, n, q, 1, 1, in, out, 0);
#elif D == 2
    v *plain = scratch, *steep = scratch + q * n;
    along(b, n, q, 1, q, in, steep, 0);
    along(g, n, q, 1, q, in + all, plain, 0);
    along(g, n, q, n, 1, steep, out, 0);
    along(b, n, q, n, 1, plain, out, 1);
#else
    v *plain = scratch, *steep = plain + q * n * n, *xx = steep + q * n * n;
    v *xy = xx + q * q * n, *yy = xy + q * q * n;
    along(b, n, q, 1, q * q, in, xx, 0);
    along(b, n, q, 1, q * q, in + all, xy, 0);
    along(g, n, q, 1, q * q, in + 2 * all, yy, 0);
    along(b, n, q, n, q, xx, steep, 0);
    along(g, n, q, n, q, xy, plain, 0);
    along(b, n, q, n, q, yy, plain, 1);
    along(g, n, q, n * n, 1, steep, out, 0);
    along(b, n, q, n * n, 1, plain, out, 1);
#endif
}

// A field's numbers of a batch of zones.
INLINE void fetch(const unsigned *index, int n, const double *field, v *out) {
    double *to = (double *)out;
    for (int i = 0; i < n * W; i++) to[i] = field[index[i]];
}

// The pointwise part of W zones at one point: planes of vectors in, planes of stresses out; the largest rate of them.
static __attribute__((noinline)) double at_points(const rules *r, const double *j, const double *g, long plane, const double *e,
                        const double *gamma, const double *p_inf, const double *mass, double weight,
                        const double *start, double *out) {
    double rates[W];
#define EACH _Pragma("GCC ivdep") for (int l = 0; l < W; l++)
#if D == 3
    double a[15][W], squares[6][W], most[W], left[W];
    int turned = !r->viscous;
#else
    int turned = 1;
#endif
#define LOAD                                                                                           \
    point_data at;                                                                                          \
    for (int i = 0; i < D * D; i++) {                                                                  \
        at.j[i] = j[i * plane + l];                                                                    \
        at.gradient[i] = g[i * plane + l];                                                                \
        at.start[i] = start[i * W + l];                                                                \
    }                                                                                                  \
    at.e = e[l], at.gamma = gamma[l], at.p_inf = p_inf[l], at.mass = mass[l], at.weight = weight;
#if D == 3
    EACH {
        LOAD
        turn m;
        double s[6];
        most[l] = strain(&at, &m, s);
        for (int i = 0; i < 6; i++) a[i][l] = m.a[i], squares[i][l] = s[i];
        for (int i = 0; i < 9; i++) a[6 + i][l] = m.v[i];
    }
    for (int n = 0; n < MOST_SWEEPS && !turned; n++) {
        EACH {
            turn m;
            for (int i = 0; i < 6; i++) m.a[i] = a[i][l];
            for (int i = 0; i < 9; i++) m.v[i] = a[6 + i][l];
            left[l] = sweep(&m);
            for (int i = 0; i < 6; i++) a[i][l] = m.a[i];
            for (int i = 0; i < 9; i++) a[6 + i][l] = m.v[i];
        }
        double sum = 0;
        for (int l = 0; l < W; l++) sum = larger(sum, left[l]);
        turned = sum < TURNED;
    }
    turned = 0;
    for (int n = 0; n < MOST_SWEEPS && !turned; n++) {
        EACH {
            double s[6];
            for (int i = 0; i < 6; i++) s[i] = squares[i][l];
            left[l] = sweep_values(s);
            for (int i = 0; i < 6; i++) squares[i][l] = s[i];
        }
        double sum = 0;
        for (int l = 0; l < W; l++) sum = larger(sum, left[l]);
        turned = sum < TURNED;
    }
    EACH {
        LOAD
        turn m;
        double s[6], o[9];
        for (int i = 0; i < 6; i++) m.a[i] = a[i][l], s[i] = squares[i][l];
        for (int i = 0; i < 9; i++) m.v[i] = a[6 + i][l];
        rates[l] = stress(r, &at, &m, most[l], s, o);
        for (int i = 0; i < 9; i++) out[i * plane + l] = o[i];
    }
#else
    (void)turned;
    EACH {
        LOAD
        turn m;
        double s[3], o[4];
        const double most = strain(&at, &m, s);
        rates[l] = stress(r, &at, &m, most, s, o);
        for (int i = 0; i < D * D; i++) out[i * plane + l] = o[i];
    }
#endif
    double largest = 0;
    for (int l = 0; l < W; l++) largest = larger(largest, rates[l]);
    return largest;
}

// Stresses of W zones from positions and velocities [component][node] of `nodes` nodes, by index [local][W]; `index_e` is
// of energies. start is [q or one][D D][W]. Where there is a source, source[q][W]. Returns the largest rate.
static double stresses(const tables *t, const rules *r, const unsigned *index, const unsigned *index_e, long nodes,
                       const double *x, const double *u, const double *e, const double *gamma, const double *p_inf,
                       const double *mass, const double *weight, const double *start, int affine, double *out,
                       double *source, double *scratch) {
    SIZES;
    const int all = CUBE(Q), local = CUBE(N);
    v *j = (v *)scratch, *g = j + D * D * all, *energy = g + D * D * all, *own = energy + all;
    v *rest = own + LARGER(local, CUBE(E));
    for (int c = 0; c < D; c++) {
        fetch(index, local, x + c * nodes, own);
        gradients(t->value, t->gradient, Q, N, own, j + c * D * all, rest);
        fetch(index, local, u + c * nodes, own);
        gradients(t->value, t->gradient, Q, N, own, g + c * D * all, rest);
    }
    fetch(index_e, CUBE(E), e, own);
    values(t->energy, Q, E, own, energy, rest);
    double largest = 0;
    for (int q = 0; q < all; q++)
        largest = larger(largest, at_points(r, (double *)(j + q), (double *)(g + q), (long)all * W,
                                            (double *)(energy + q), gamma, p_inf, mass + q * W, weight[q],
                                            start + (affine ? 0 : (long)q * D * D * W), out + q * W));
#if D == 2
    if (r->source) {
        v *px = g, *py = g + all;
        fetch(index, local, x, own);
        values(t->value, Q, N, own, px, rest);
        fetch(index, local, x + nodes, own);
        values(t->value, Q, N, own, py, rest);
        for (int q = 0; q < all; q++)
            for (int l = 0; l < W; l++) {
                double jq[4];
                for (int i = 0; i < 4; i++) jq[i] = j[i * all + q][l];
                source[q * W + l] = weight[q] * determinant(jq) * vortex(px[q][l], py[q][l]);
            }
    }
#else
    (void)source;
#endif
    return largest;
}

// Minus the forces on the nodes of W zones, [local][component][W].
static void forces(const tables *t, const double *stress, double *out, double *scratch) {
    SIZES;
    const int all = CUBE(Q), local = CUBE(N);
    v *own = (v *)scratch, *to = (v *)out;
    for (int c = 0; c < D; c++) {
        divergence(t->value_t, t->slope_t, Q, N, (const v *)stress + c * D * all, own, own + local);
        for (int i = 0; i < local; i++) to[i * D + c] = -own[i];
    }
}

// Energies' rates of W zones by their stresses and velocities; inverse is [i][j][W], or null for what it would be
// multiplied with.
static void work(const tables *t, const unsigned *index, const unsigned *index_e, long nodes, const double *u,
                 const double *stress, const double *source, const double *inverse, double *out, int real,
                 double *scratch) {
    SIZES;
    const int all = CUBE(Q), local = CUBE(N), energies = CUBE(E);
    v *sum = (v *)scratch, *g = sum + all, *own = g + D * all, *rest = own + local;
    for (int q = 0; q < all; q++) sum[q] = source ? ((const v *)source)[q] : (v){0};
    for (int c = 0; c < D; c++) {
        fetch(index, local, u + c * nodes, own);
        gradients(t->value, t->gradient, Q, N, own, g, rest);
        const v *a = (const v *)stress + c * D * all;
        for (int i = 0; i < D * all; i++) sum[i % all] += a[i] * g[i];
    }
    v *right = g, *rates = g + energies;
    gathered(t->energy_t, Q, E, sum, right, rest);
    for (int i = 0; i < energies; i++) {
        if (!inverse) {
            rates[i] = right[i];
            continue;
        }
        v s = {0};
        const v *row = (const v *)inverse + (long)i * energies;
        for (int k = 0; k < energies; k++) s += row[k] * right[k];
        rates[i] = s;
    }
    for (int i = 0; i < energies; i++)
        for (int l = 0; l < real; l++) out[index_e[i * W + l]] = rates[i][l];
}

// The mass matrix of W zones times D fields: [local][component][W]; adds field M field of the first `real` zones to sums.
static void mass_times(const tables *t, const unsigned *index, long nodes, const double *field, const double *mass,
                       int real, double *out, double *sums, double *scratch) {
    SIZES;
    const int all = CUBE(Q), local = CUBE(N);
    v *own = (v *)scratch, *at = own + local, *rest = at + all, *to = (v *)out;
    for (int c = 0; c < D; c++) {
        fetch(index, local, field + c * nodes, own);
        values(t->value, Q, N, own, at, rest);
        v square = {0};
        for (int q = 0; q < all; q++) {
            const v of = at[q] * ((const v *)mass)[q];
            square += of * at[q];
            at[q] = of;
        }
        for (int l = 0; l < real; l++) sums[c] += square[l];
        gathered(t->value_t, Q, N, at, own, rest);
        for (int i = 0; i < local; i++) to[i * D + c] = own[i];
    }
}

// Internal and kinetic energy of the first `real` of W zones.
static void sums(const tables *t, const unsigned *index, const unsigned *index_e, long nodes, const double *u,
                 const double *e, const double *mass, int real, double *out, double *scratch) {
    SIZES;
    const int all = CUBE(Q), local = CUBE(N);
    v *own = (v *)scratch, *at = own + LARGER(local, CUBE(E)), *rest = at + all, inner = {0}, outer = {0};
    const v *m = (const v *)mass;
    fetch(index_e, CUBE(E), e, own);
    values(t->energy, Q, E, own, at, rest);
    for (int q = 0; q < all; q++) inner += m[q] * at[q];
    for (int c = 0; c < D; c++) {
        fetch(index, local, u + c * nodes, own);
        values(t->value, Q, N, own, at, rest);
        for (int q = 0; q < all; q++) outer += 0.5 * m[q] * at[q] * at[q];
    }
    out[0] = out[1] = 0;
    for (int l = 0; l < real; l++) out[0] += inner[l], out[1] += outer[l];
}

// Doubles that one batch works in.
static long scratch(const tables *t) {
    SIZES;
    const long all = CUBE(Q), most = LARGER(LARGER(Q, N), E);
    return (4 * D * D * all + 6 * CUBE(most) + 2 * all + 2 * CUBE(E)) * W;
}

// By this the caller finds them.
const struct {
    __typeof__(scratch) *scratch;
    __typeof__(stresses) *stresses;
    __typeof__(forces) *forces;
    __typeof__(work) *work;
    __typeof__(mass_times) *mass_times;
    __typeof__(sums) *sums;
} NAME = {scratch, stresses, forces, work, mass_times, sums};
