// Parameters of the kernels, as in gpu/arguments.rs, which gives the sizes.
struct P2p {
    const real4 *positions;
    const real *more, *x, *y, *z;
    const int *items, *ranges;
    real *out;
    long long stride;
    double parameter;
};
static_assert(sizeof(P2p) == P2P_BYTES, "P2p");

struct PointsToSurfaces {
    const real4 *positions;
    const real *more;
    const real4 *boxes;
    const real *surface;
    const int *items, *ranges;
    real *check;
    const real *scales;
    double radius, parameter;
};
static_assert(sizeof(PointsToSurfaces) == POINTS_TO_SURFACES_BYTES, "PointsToSurfaces");

struct SurfacesToPoints {
    const real4 *boxes;
    const real *surface, *down, *up, *x, *y, *z;
    const int *items, *w;
    real *out;
    long long stride;
    double outer, inner, parameter;
};
static_assert(sizeof(SurfacesToPoints) == SURFACES_TO_POINTS_BYTES, "SurfacesToPoints");

struct Permute {
    long long count;
    const int *index;
    const real *from;
    real *to, *more;
};
static_assert(sizeof(Permute) == PERMUTE_BYTES, "Permute");

struct CopyBoxes {
    long long count, each;
    const real *from;
    const int *from_boxes;
    real *to;
    const int *to_boxes;
};
static_assert(sizeof(CopyBoxes) == COPY_BOXES_BYTES, "CopyBoxes");

struct Clear {
    long long count;
    real *values;
};
static_assert(sizeof(Clear) == CLEAR_BYTES, "Clear");

struct Apply {
    const real *matrix, *x;
    const int *x_boxes;
    real *y;
    const int *y_boxes;
    int rows, depth, count, x_stride, y_stride, add;
};
static_assert(sizeof(Apply) == APPLY_BYTES, "Apply");

struct Transform {
    const real *twiddles;
    const int *grid, *children;
    real *surfaces, *spectra;
    long long parents;
};
static_assert(sizeof(Transform) == TRANSFORM_BYTES, "Transform");

struct Hadamard {
    const real *blocks;
    const int *neighbours;
    const real *from;
    real *to;
    long long sources, targets;
};
static_assert(sizeof(Hadamard) == HADAMARD_BYTES, "Hadamard");
