// A particle to sum over, and its sums in double precision.

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define TAU 6.283185307179586

// Triangles of a sphere of 10 nm about the origin, on a spiral.
static void sphere(int64_t nodes, float *node) {
    const double radius = 10.0, share = 2 * TAU * radius * radius / triangles;
    for (int64_t t = 0; t < nodes; t++) {
        float *n = node + 8 * t;
        for (int k = 0; k < 8; k++) n[k] = 0;
        if (t >= triangles) continue;
        const double z = 1 - (2 * t + 1.0) / triangles, r = sqrt(1 - z * z), phi = 2.399963229728653 * t;
        const double normal[3] = {r * cos(phi), r * sin(phi), z};
        for (int k = 0; k < 3; k++) {
            n[k] = (float)(radius * normal[k]);
            n[3 + k] = (float)(share * normal[k]);
        }
    }
}

// q up to 2 and 2.5 per nm.
void particle(int64_t nodes, float *node, int64_t ny, float *qy, int64_t nz, float *qz, float *loss, float qx,
              float *out) {
    (void)qx;
    (void)out;
    sphere(nodes, node);
    for (int64_t j = 0; j < ny; j++) qy[j] = (float)((-2.0 + 4.0 * j / (ny - 1)) / TAU);
    for (int64_t k = 0; k < nz; k++) {
        qz[k] = (float)(2.5 * k / (nz - 1) / TAU);
        // Im q_z from 0.01 to 0.02 per nm.
        loss[k] = (float)(-(0.01 + 0.01 * k / (nz - 1)) / log(2.0));
    }
}

// e^{i(x, y).r} and e^{i z} apart, so that the products are all that is left to do.
void sums(int64_t nodes, const float *node, int64_t ny, const float *qy, int64_t nz, const float *qz,
          const float *loss, float qx, float *out) {
    double *column = malloc(sizeof(double) * 2 * nodes * nz);
    for (int64_t k = 0; k < nz; k++)
        for (int64_t t = 0; t < nodes; t++) {
            const double z = node[8 * t + 2], a = TAU * qz[k] * z, e = damped ? exp2(loss[k] * z) : 1;
            column[2 * (k * nodes + t)] = e * cos(a);
            column[2 * (k * nodes + t) + 1] = e * sin(a);
        }
    for (int64_t j = 0; j < ny; j++) {
        double *c = malloc(sizeof(double) * 2 * nodes), *s = c + nodes;
        for (int64_t t = 0; t < nodes; t++) {
            const double a = TAU * (qx * (double)node[8 * t] + qy[j] * (double)node[8 * t + 1]);
            c[t] = cos(a);
            s[t] = sin(a);
        }
        for (int64_t k = 0; k < nz; k++) {
            double sum[4] = {0};
            const double *e = column + 2 * k * nodes;
            for (int64_t t = 0; t < nodes; t++) {
                const float *n = node + 8 * t;
                const double re = c[t] * e[2 * t] - s[t] * e[2 * t + 1], im = c[t] * e[2 * t + 1] + s[t] * e[2 * t];
                const double w = qx * (double)n[3] + qy[j] * (double)n[4];
                sum[0] += w * re;
                sum[1] += w * im;
                sum[2] += n[5] * re;
                sum[3] += n[5] * im;
            }
            for (int m = 0; m < 4; m++) out[m * ny * nz + k * ny + j] = (float)sum[m];
        }
        free(c);
    }
    free(column);
}

#ifdef point_count
// The same sphere; q on a spiral about the z axis.
void particle_at(int64_t nodes, float *node, int64_t count, float *q, double *out) {
    (void)out;
    sphere(nodes, node);
    for (int64_t n = 0; n < count; n++) {
        const double share = (n + 0.5) / count, phi = 2.399963229728653 * n;
        q[n] = (float)(0.3 * share * cos(phi) / TAU);
        q[count + n] = (float)(2.0 * share * sin(phi) / TAU);
        q[2 * count + n] = (float)((2.5 * share - 0.4) / TAU);
        q[3 * count + n] = (float)(-(0.02 * share - 0.005) / log(2.0));
    }
}

void sums_at(int64_t nodes, const float *node, int64_t count, const float *q, double *out) {
    for (int64_t n = 0; n < count; n++) {
        double sum[4] = {0};
        const double x = q[n], y = q[count + n], z = q[2 * count + n], d = q[3 * count + n];
        for (int64_t t = 0; t < nodes; t++) {
            const float *a = node + 8 * t;
            const double p = TAU * (x * a[0] + y * a[1] + z * a[2]), e = damped ? exp2(d * a[2]) : 1;
            const double w = e * (x * a[3] + y * a[4]), v = e * a[5];
            sum[0] += w * cos(p);
            sum[1] += w * sin(p);
            sum[2] += v * cos(p);
            sum[3] += v * sin(p);
        }
        for (int m = 0; m < 4; m++) out[m * count + n] = sum[m];
    }
}
#endif
