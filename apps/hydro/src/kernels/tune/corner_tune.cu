// The kernel at the points with arguments that a tuning problem can give. Parameters: ZONES and THREADS of a block, BLOCKS
// of a multiprocessor that registers are kept for, FUSED (forces and work in the same kernel) or not (stresses are stored
// and two more kernels follow).
#define D 3
#define N (degree + 1)
#define E degree
#define Q (2 * degree)
#define STORED (!FUSED)
#define AFFINE 1
#ifndef INFINITY
#define INFINITY __longlong_as_double(0x7ff0000000000000ll)
#endif
#include "tables.h"
// `zones` and `nodes` are numbers of the problem, and names in what follows.
enum { all_zones = zones };
#undef zones
#undef nodes
#undef local
#undef energies
#undef points
#undef first
#undef second
#undef zone_bytes
#undef line
#include "../point.h"
#include "../tables.cuh"
#include "../corner.cu"

#define RULES {1.0 / (side * degree), degree, 1, 0, 0}

// What the caller does not see: stresses between kernels, the rate, and the p_inf of gases, of which there is none.
__device__ double stress_kept[9 * all_zones * POINTS], no_stiffness[all_zones];
__device__ unsigned long long rate_kept;

#define GIVEN                                                                                                      \
    long long count, long long node_count, const int *index, const double *x, const double *u, const double *e,    \
        const double *gamma, const double *mass, const double *start, double *own, double *right

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) corner_at(GIVEN) {
    const rules r = RULES;
    corner_of(r, count, node_count, (const unsigned *)index, x, u, e, gamma, no_stiffness, mass, start, stress_kept,
              stress_kept, own, right, &rate_kept);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) force_at(GIVEN) { force_of(count, stress_kept, own); }

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) work_at(GIVEN) {
    const rules r = RULES;
    work_of(r, count, node_count, (const unsigned *)index, u, stress_kept, stress_kept, right);
}
