// Parameters of the kernels, as in gpu/arguments.rs, which gives the sizes.
struct corner_arguments {
    rules r;
    long long zones, nodes;
    const unsigned *index;
    const double *x, *u, *e, *gamma, *p_inf, *mass, *start;
    double *stress_out, *source, *own, *right;
    unsigned long long *rate;
};
static_assert(sizeof(corner_arguments) == CORNER_ARGUMENTS_BYTES, "corner_arguments");

struct solve_arguments {
    long long zones, nodes;
    const unsigned *index, *begin, *shares;
    const double *mass;
    double *own;
    const double *gravity, *over;
    const unsigned char *constrained;
    const unsigned *row, *columns;
    const double *values;
    double *out, *x, *r, *p, *image, *products;
    unsigned *grid_barrier;
    unsigned long long *counted;
    double tolerance;
    long long max_iterations;
};
static_assert(sizeof(solve_arguments) == SOLVE_ARGUMENTS_BYTES, "solve_arguments");
