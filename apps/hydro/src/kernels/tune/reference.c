// A cube of gas that moves, and its corner force zone by zone by the C kernels with one lane.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { all_zones = zones, all_nodes = nodes, in_zone = local, of_energy = energies, count_of_points = points, in_line = line };
#undef zones
#undef nodes
#undef local
#undef energies
#undef points
#undef first
#undef second
#undef zone_bytes
#undef line
#undef max_shared

#define VBYTES 8
#define D 3
#define K 0
#define NAME host_kernels
#include "../zone.c"
#undef D
#undef K
#include "tables.h"

static const double value[] = {VALUE}, gradient[] = {SLOPE}, energy[] = {ENERGY}, weights[] = {WEIGHTS};
static const double ends[] = {ENDS};

// Places in a bent cube, velocities and energies that vary, all masses alike but for a wave.
void gas(int64_t count, int64_t node_count, int32_t *index, double *x, double *u, double *e, double *gamma, double *mass,
         double *start, double *own, double *right) {
    (void)own, (void)right;
    const int n = degree + 1, q = 2 * degree;
    for (int64_t i = 0; i < node_count; i++) {
        const int at[3] = {(int)(i % in_line), (int)(i / in_line % in_line), (int)(i / in_line / in_line)};
        double p[3];
        for (int c = 0; c < 3; c++) {
            const int zone = at[c] == side * degree ? side - 1 : at[c] / degree;
            p[c] = (zone + ends[at[c] - zone * degree]) / side;
        }
        for (int c = 0; c < 3; c++) {
            const double bend = sin(3 * p[(c + 1) % 3]) * sin(2 * p[(c + 2) % 3] + 1);
            x[c * node_count + i] = p[c] + 0.1 * bend * p[c] * (1 - p[c]);
            u[c * node_count + i] = sin(5 * p[c] + c) * cos(4 * p[(c + 1) % 3]) + 0.3 * sin(90 * p[(c + 2) % 3]);
        }
    }
    for (int64_t z = 0; z < count; z++) {
        const int at[3] = {(int)(z % side), (int)(z / side % side), (int)(z / side / side)};
        for (int i = 0; i < in_zone; i++) {
            const int own_at[3] = {i % n, i / n % n, i / n / n};
            index[z * in_zone + i] = ((at[2] * degree + own_at[2]) * in_line + at[1] * degree + own_at[1]) * in_line +
                                     at[0] * degree + own_at[0];
        }
        for (int i = 0; i < of_energy; i++) e[z * of_energy + i] = 1 + 0.5 * sin(0.7 * z + i);
        gamma[z] = z % 3 ? 1.4 : 5.0 / 3;
        for (int p = 0; p < count_of_points; p++)
            mass[z * count_of_points + p] = weights[p % q] * weights[p / q % q] * weights[p / q / q] / all_zones *
                                      (1 + 0.2 * sin(0.01 * z));
        for (int i = 0; i < 9; i++) start[9 * z + i] = i % 4 ? 0 : side;
    }
}

void corner_right(int64_t count, int64_t node_count, const int32_t *index, const double *x, const double *u, const double *e,
                  const double *gamma, const double *mass, const double *start, double *own, double *right) {
    const int n = degree + 1, q = 2 * degree;
    double *turned = malloc(sizeof(double) * q * (2 * n + degree));
    double *value_t = turned, *slope_t = turned + q * n, *energy_t = slope_t + q * n;
    for (int r = 0; r < q; r++) {
        for (int i = 0; i < n; i++) value_t[i * q + r] = value[r * n + i], slope_t[i * q + r] = gradient[r * n + i];
        for (int i = 0; i < degree; i++) energy_t[i * q + r] = energy[r * degree + i];
    }
    const tables t = {n, degree, q, value, gradient, energy, value_t, slope_t, energy_t};
    const rules r = {1.0 / (side * degree), degree, 1, 0, 0};
    double *room = malloc(sizeof(double) * host_kernels.scratch(&t)), *stress_kept = malloc(sizeof(double) * 9 * count_of_points);
    double w[count_of_points];
    for (int p = 0; p < count_of_points; p++) w[p] = weights[p % q] * weights[p / q % q] * weights[p / q / q];
    unsigned *of_e = malloc(sizeof(unsigned) * of_energy);
    for (int64_t z = 0; z < count; z++) {
        const unsigned *of = (const unsigned *)index + z * in_zone;
        const double p_inf = 0;
        for (int i = 0; i < of_energy; i++) of_e[i] = (unsigned)(z * of_energy + i);
        host_kernels.stresses(&t, &r, of, of_e, node_count, x, u, e, gamma + z, &p_inf, mass + z * count_of_points, w, start + 9 * z, 1,
                              stress_kept, 0, room);
        // [local][component], as it is on the GPU.
        host_kernels.forces(&t, stress_kept, own + z * in_zone * 3, room);
        host_kernels.work(&t, of, of_e, node_count, u, stress_kept, 0, 0, right, 1, room);
    }
    free(turned), free(room), free(stress_kept), free(of_e);
}
