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

#if RANKS
// What zones, or ranks, contribute to shared nodes: addresses of the first component, those of node k from begin[k] on.
struct contributions {
    const unsigned *begin;
    const double *const *at;
};
// Where the other GPUs tell one that they have arrived, and their sums: in its memory.
struct rank_meeting {
    double sums[2][MAX_RANKS][3];
    unsigned arrived[MAX_RANKS];
};
struct rank_arguments {
    contributions by_zone, by_rank;
    rank_meeting *const *meetings;
    const unsigned *stop;
    long long ranks, me;
};
#endif

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
#if RANKS
    rank_arguments team;
#endif
};
static_assert(sizeof(solve_arguments) == SOLVE_ARGUMENTS_BYTES, "solve_arguments");

#if RANKS
// A part of a solve, with what the host made of the sums of the part before.
struct solve_part {
    solve_arguments solve;
    double alpha[3], beta[3];
};
static_assert(sizeof(solve_part) == SOLVE_PART_BYTES && sizeof(rank_meeting) == MEETING_BYTES, "ranks");
#endif
