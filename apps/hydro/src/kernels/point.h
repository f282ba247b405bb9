// One point of quadrature, for C and CUDA alike: strain rate, its smallest eigenvalue and direction, the least stretch,
// pressure, viscosity, stress, time step. D is the dimension; matrices are row-major, rows are components.
#ifdef __CUDACC_RTC__
#define POINT static __device__ __forceinline__
#define OVER_ROOT(x) rsqrt(x)
#else
#define POINT static inline __attribute__((always_inline))
#define OVER_ROOT(x) (1 / sqrt(x))
#endif

// What holds for all points of a run.
typedef struct {
    double h0;   // length of a zone at the start, over its order
    double order;
    long long viscous; // whether there is artificial viscosity
    long long vorticity; // whether flow that turns lessens it
    long long source;  // whether the energy source of Taylor and Green's vortex in two dimensions is on
} rules;

typedef struct {
    double j[D * D], gradient[D * D]; // of positions and velocities, in the reference zone
    double e, gamma, p_inf;        // energy; the gas: p = (gamma - 1) rho e - gamma p_inf
    double mass, weight;           // rho0 |J0| w; w
    double start[D * D];           // J0^-1
} point_data;

// A symmetric matrix under rotations, and what they make of the unit matrix.
typedef struct {
    double a[D * (D + 1) / 2]; // 3D: 00 11 22 01 02 12; 2D: 00 11 01
    double v[D * D];
} turn;

#if D == 2
POINT void adjugate(const double *j, double *t) {
    t[0] = j[3], t[1] = -j[1], t[2] = -j[2], t[3] = j[0];
}
POINT double determinant(const double *j) { return j[0] * j[3] - j[1] * j[2]; }
#elif D == 3
POINT void adjugate(const double *j, double *t) {
    t[0] = j[4] * j[8] - j[5] * j[7], t[1] = j[2] * j[7] - j[1] * j[8], t[2] = j[1] * j[5] - j[2] * j[4];
    t[3] = j[5] * j[6] - j[3] * j[8], t[4] = j[0] * j[8] - j[2] * j[6], t[5] = j[2] * j[3] - j[0] * j[5];
    t[6] = j[3] * j[7] - j[4] * j[6], t[7] = j[1] * j[6] - j[0] * j[7], t[8] = j[0] * j[4] - j[1] * j[3];
}
POINT double determinant(const double *j) {
    return j[0] * (j[4] * j[8] - j[5] * j[7]) - j[1] * (j[3] * j[8] - j[5] * j[6]) +
           j[2] * (j[3] * j[7] - j[4] * j[6]);
}
#else
POINT void adjugate(const double *j, double *t) { t[0] = 1 + 0 * j[0]; }
POINT double determinant(const double *j) { return j[0]; }
#endif

POINT double larger(double a, double b) { return a > b ? a : b; }
POINT double size_of(double a) { return a < 0 ? -a : a; }

#if D == 3
// One rotation that makes pq zero; r is the third. The angle's cosine and sine follow from those of twice the angle.
#define ROTATE(pp, qq, pq, rp, rq)                                                                     \
    const double half = 0.5 * (qq - pp), square = half * half + pq * pq;                               \
    const double over = square > 1e-300 ? OVER_ROOT(square) : 0, wide = size_of(half) * over;           \
    const double c2 = 0.5 + 0.5 * (square > 1e-300 ? wide : 1), rc = OVER_ROOT(c2), c = c2 * rc;        \
    const double s = (half < 0 ? -0.5 : 0.5) * pq * over * rc, t = s * rc, before = rp;                 \
    pp -= t * pq, qq += t * pq, pq = 0, rp = c * before - s * rq, rq = s * before + c * rq
#define TURN(p, q)                                                                                     \
    {                                                                                                  \
        const double a = p, b = q;                                                                     \
        p = c * a - s * b, q = s * a + c * b;                                                          \
    }

// A sweep of Jacobi's rotations; what is left beside the diagonal, squared.
POINT double sweep(turn *m) {
    double *a = m->a, *v = m->v;
    {
        ROTATE(a[0], a[1], a[3], a[4], a[5]);
        TURN(v[0], v[1]) TURN(v[3], v[4]) TURN(v[6], v[7])
    }
    {
        ROTATE(a[0], a[2], a[4], a[3], a[5]);
        TURN(v[0], v[2]) TURN(v[3], v[5]) TURN(v[6], v[8])
    }
    {
        ROTATE(a[1], a[2], a[5], a[3], a[4]);
        TURN(v[1], v[2]) TURN(v[4], v[5]) TURN(v[7], v[8])
    }
    return a[3] * a[3] + a[4] * a[4] + a[5] * a[5];
}

// The same without directions.
POINT double sweep_values(double *a) {
    { ROTATE(a[0], a[1], a[3], a[4], a[5]); }
    { ROTATE(a[0], a[2], a[4], a[3], a[5]); }
    { ROTATE(a[1], a[2], a[5], a[3], a[4]); }
    return a[3] * a[3] + a[4] * a[4] + a[5] * a[5];
}
// Below this, of matrices whose largest element is 1, nothing is left in double precision.
#define TURNED 1e-36
#define MOST_SWEEPS 8
#endif

// Strain rate over its largest element, and that element; the squares of J, J^T J, over theirs.
POINT double strain(const point_data *at, turn *m, double *squares) {
    double t[D * D];
    adjugate(at->j, t);
    const double *g = at->gradient, *j = at->j, over = 1 / determinant(j);
    double l[D * D], most = 0;
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++) {
            double sum = 0;
            for (int k = 0; k < D; k++) sum += g[a * D + k] * t[k * D + b];
            l[a * D + b] = sum * over;
        }
    double *e = m->a;
#if D == 1
    e[0] = l[0];
    m->v[0] = 1;
    squares[0] = j[0] * j[0];
    most = 1;
#elif D == 2
    e[0] = l[0], e[1] = l[3], e[2] = 0.5 * (l[1] + l[2]);
    squares[0] = j[0] * j[0] + j[2] * j[2], squares[1] = j[1] * j[1] + j[3] * j[3];
    squares[2] = j[0] * j[1] + j[2] * j[3];
    most = larger(larger(size_of(e[0]), size_of(e[1])), size_of(e[2]));
    const double scale = most > 1e-290 ? 1 / most : 0;
    e[0] *= scale, e[1] *= scale, e[2] *= scale;
#else
    e[0] = l[0], e[1] = l[4], e[2] = l[8];
    e[3] = 0.5 * (l[1] + l[3]), e[4] = 0.5 * (l[2] + l[6]), e[5] = 0.5 * (l[5] + l[7]);
    most = larger(larger(size_of(e[0]), size_of(e[1])), size_of(e[2]));
    most = larger(larger(most, size_of(e[3])), larger(size_of(e[4]), size_of(e[5])));
    const double scale = most > 1e-290 ? 1 / most : 0;
    e[0] *= scale, e[1] *= scale, e[2] *= scale, e[3] *= scale, e[4] *= scale, e[5] *= scale;
    m->v[0] = 1, m->v[1] = 0, m->v[2] = 0, m->v[3] = 0, m->v[4] = 1, m->v[5] = 0;
    m->v[6] = 0, m->v[7] = 0, m->v[8] = 1;
    squares[0] = j[0] * j[0] + j[3] * j[3] + j[6] * j[6];
    squares[1] = j[1] * j[1] + j[4] * j[4] + j[7] * j[7];
    squares[2] = j[2] * j[2] + j[5] * j[5] + j[8] * j[8];
    squares[3] = j[0] * j[1] + j[3] * j[4] + j[6] * j[7];
    squares[4] = j[0] * j[2] + j[3] * j[5] + j[6] * j[8];
    squares[5] = j[1] * j[2] + j[4] * j[5] + j[7] * j[8];
    const double large = larger(larger(squares[0], squares[1]), squares[2]);
    const double shrink = large > 0 ? 1 / large : 0;
    for (int i = 0; i < 6; i++) squares[i] *= shrink;
#endif
    return most;
}

// Smallest eigenvalue, over the largest element, and its direction, of a matrix that was turned (3D).
POINT double smallest_eigenpair(const turn *m, double *s) {
    const double *a = m->a;
#if D == 1
    s[0] = 1;
    return a[0];
#elif D == 2
    const double half = 0.5 * (a[0] - a[1]), b = a[2], root = sqrt(half * half + b * b);
    // The larger of both forms of (a - l) s = 0.
    const long long first = half <= 0;
    const double s0 = first ? root - half : b, s1 = first ? -b : -(half + root);
    s[0] = b == 0 ? (first ? 1.0 : 0.0) : s0;
    s[1] = b == 0 ? (first ? 0.0 : 1.0) : s1;
    return 0.5 * (a[0] + a[1]) - root;
#else
    const double *v = m->v;
    const long long second = a[1] < a[0];
    const double l = second ? a[1] : a[0];
    const long long third = a[2] < l;
    s[0] = third ? v[2] : second ? v[1] : v[0];
    s[1] = third ? v[5] : second ? v[4] : v[3];
    s[2] = third ? v[8] : second ? v[7] : v[6];
    return third ? a[2] : l;
#endif
}

// Smallest singular value of J by its turned squares: |J| over the others keeps its digits.
POINT double smallest_singular_value(const double *j, const double *squares, double det) {
#if D == 1
    return size_of(j[0]) + 0 * squares[0] + 0 * det;
#elif D == 2
    const double half = 0.5 * (squares[0] - squares[1]);
    const double large = 0.5 * (squares[0] + squares[1]) + sqrt(half * half + squares[2] * squares[2]);
    return size_of(det) / sqrt(larger(large, 1e-300)) + 0 * j[0];
#else
    double large = larger(larger(j[0] * j[0] + j[3] * j[3] + j[6] * j[6], j[1] * j[1] + j[4] * j[4] + j[7] * j[7]),
                          j[2] * j[2] + j[5] * j[5] + j[8] * j[8]);
    const double least = squares[0] < squares[1] ? (squares[0] < squares[2] ? squares[0] : squares[2])
                                                 : (squares[1] < squares[2] ? squares[1] : squares[2]);
    const double most = larger(larger(squares[0], squares[1]), squares[2]);
    const double center = squares[0] + squares[1] + squares[2] - least - most;
    // Scaled as the squares are.
    return size_of(det) / larger(large * sqrt(center * most), 1e-300);
#endif
}

// w |J| sigma J^-T, and one over the time step without Courant's number.
POINT double stress(const rules *r, const point_data *at, const turn *m, double most, const double *squares, double *out) {
    const double *j = at->j;
    double t[D * D];
    adjugate(j, t);
    const double det = determinant(j), over = 1 / det;
    const double rho = at->mass / (at->weight * det), e = larger(at->e, 0);
    const double p = (at->gamma - 1) * rho * e - at->gamma * at->p_inf;
    const double c = sqrt(larger(at->gamma * (at->gamma - 1) * (e - at->p_inf / rho), 0));
    double sigma[D * D];
    for (int i = 0; i < D * D; i++) sigma[i] = i % (D + 1) ? 0 : -p;
    double nu = 0;
    if (r->viscous) {
        double s[D], l[D * D];
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++) {
                double sum = 0;
                for (int k = 0; k < D; k++) sum += at->gradient[a * D + k] * t[k * D + b];
                l[a * D + b] = sum * over;
            }
        const double mu = smallest_eigenpair(m, s) * most;
        double image = 0, length = 0, w[D];
        for (int k = 0; k < D; k++) {
            double sum = 0;
            for (int b = 0; b < D; b++) sum += at->start[k * D + b] * s[b];
            w[k] = sum;
            length += s[k] * s[k];
        }
        for (int a = 0; a < D; a++) {
            double sum = 0;
            for (int k = 0; k < D; k++) sum += j[a * D + k] * w[k];
            image += sum * sum;
        }
        const double h = r->h0 * sqrt(image / length);
        // 1 in compression and at rest, 0 in expansion; smooth between.
        double y = (mu - 1e-12) / 2e-12;
        y = y < 0 ? 0 : y > 1 ? 1 : y;
        double linear = 1 - (3 - 2 * y) * y * y;
        if (r->vorticity) {
            double trace = 0, norm = 0;
            for (int i = 0; i < D * D; i++) {
                norm += l[i] * l[i];
                trace += i % (D + 1) ? 0 : l[i];
            }
            linear *= norm > 0 ? size_of(trace) / sqrt(norm) : 1;
        }
        nu = 2 * rho * h * h * size_of(mu) + 0.5 * rho * h * c * linear;
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++) sigma[a * D + b] += nu * 0.5 * (l[a * D + b] + l[b * D + a]);
    }
    for (int a = 0; a < D; a++)
        for (int g = 0; g < D; g++) {
            double sum = 0;
            for (int k = 0; k < D; k++) sum += sigma[a * D + k] * t[g * D + k];
            out[a * D + g] = at->weight * sum;
        }
    const double h = smallest_singular_value(j, squares, det) / r->order;
    const double rate = c / h + 2.5 * nu / (rho * h * h);
    // An inverted zone, or one that is no number, allows no step.
    return det >= 0 && at->e == at->e && rate < INFINITY ? rate : INFINITY;
}

// Energy that a unit of volume is given in a unit of time: Taylor and Green's vortex.
#if D == 2
POINT double vortex(double x, double y) {
    const double pi = 3.14159265358979323846;
    return 0.375 * pi * (cos(3 * pi * x) * cos(pi * y) - cos(pi * x) * cos(3 * pi * y));
}
#endif
