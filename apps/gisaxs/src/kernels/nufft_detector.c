// Both ends of a nonuniform Fourier transform: spreading sums onto a grid, and reading values between the
// nodes of another. Compiled once for each instruction set: VBYTES is the size of a vector.

typedef double v __attribute__((vector_size(VBYTES), aligned(8)));
#define LANES ((int)(VBYTES / sizeof(double)))
#define INLINE static inline __attribute__((always_inline))

// The window's values on the WIDTH nodes around a position, by one polynomial in 2f - 1 a node; f in 0..1 is
// the position after the first node. Coefficients: [degree + 1][16], highest power first.
INLINE void window(double f, const double *coefficients, long degree, const int width, double *values) {
    const int vectors = (width + LANES - 1) / LANES;
    const double x = 2 * f - 1;
    v sum[16 / LANES];
    for (int i = 0; i < vectors; i++) sum[i] = *(const v *)(coefficients + i * LANES);
    for (long d = 1; d <= degree; d++)
        for (int i = 0; i < vectors; i++) sum[i] = sum[i] * x + *(const v *)(coefficients + 16 * d + i * LANES);
    for (int i = 0; i < vectors; i++) *(v *)(values + i * LANES) = sum[i];
}

INLINE void spread_any(long nodes, const double *y, const double *z, const double *sums, const double *coefficients,
                       long degree, double *grid, long columns, const int width) {
    enum { MAX = 16 / LANES };
    // Whole vectors: past the window they add nothing, to cells that the grid has beyond its last.
    const int vectors = (width + LANES - 1) / LANES;
    for (long t = 0; t < nodes; t++) {
        const long iy = (long)y[t], iz = (long)z[t];
        double ky[16], kz[16] = {0};
        window(y[t] - iy, coefficients, degree, width, ky);
        window(z[t] - iz, coefficients, degree, width, kz);
        v weight[MAX];
        for (int i = 0; i < vectors; i++) weight[i] = *(const v *)(kz + i * LANES);
        const double *s = sums + 6 * t;
        double *at = grid + iy * 6 * columns + iz;
        for (int j = 0; j < width; j++)
            for (int m = 0; m < 6; m++) {
                const double c = s[m] * ky[j];
                v *row = (v *)(at + (6 * j + m) * columns);
                for (int i = 0; i < vectors; i++) row[i] += c * weight[i];
            }
    }
}

#define JOIN(a, b) a##_##b
#define NAME(a, b) JOIN(a, b)

// grid[rows][6][columns] += every node's six sums over width x width positions from (y, z), grid units.
static void NAME(spread, ISA)(long nodes, const double *y, const double *z, const double *sums, const double *coefficients,
                       long degree, long width, double *grid, long columns) {
#define CASE(W)                                                                         \
    case W:                                                                             \
        spread_any(nodes, y, z, sums, coefficients, degree, grid, columns, W);          \
        break;
    switch (width) { CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) }
}

INLINE void read_any(long points, const double *position, const double *coefficients, long degree, long panels,
                     const double *scaled, const double *table, long rows, long values, double *out, const int width) {
    double wy[16], wx[64];
    for (long t = 0; t < points; t++) {
        const long first = (long)position[t];
        window(position[t] - first, coefficients, degree, width, wy);
        // Chebyshev polynomials.
        const double x = scaled[t];
        wx[0] = 1;
        wx[1] = x;
        for (long p = 2; p < panels; p++) wx[p] = 2 * x * wx[p - 1] - wx[p - 2];
        for (long from = 0; from < values; from += 8) {
            v sum[8 / LANES];
            for (int k = 0; k < 8 / LANES; k++) sum[k] = (v){0};
            for (long p = 0; p < panels; p++) {
                const double *at = table + (p * rows + first) * values + from;
                for (long j = 0; j < width; j++) {
                    const double c = wx[p] * wy[j];
                    for (int k = 0; k < 8 / LANES; k++) sum[k] += c * *(const v *)(at + j * values + k * LANES);
                }
            }
            for (int k = 0; k < 8 / LANES; k++) *(v *)(out + t * values + from + k * LANES) = sum[k];
        }
    }
}

// out[point][values] = sum over p and j of T_p(scaled) window_j(position) table[p][first node + j][values]; values in
// whole eights, panels at most 64.
static void NAME(read, ISA)(long points, const double *position, const double *coefficients, long degree, long width,
                     long panels, const double *scaled, const double *table, long rows, long values, double *out) {
#undef CASE
#define CASE(W)                                                                                             \
    case W:                                                                                                 \
        read_any(points, position, coefficients, degree, panels, scaled, table, rows, values, out, W);         \
        break;
    switch (width) { CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) }
}

// By these the caller finds them.
__typeof__(NAME(spread, ISA)) *const NAME(spread_at, ISA) = NAME(spread, ISA);
__typeof__(NAME(read, ISA)) *const NAME(read_at, ISA) = NAME(read, ISA);
