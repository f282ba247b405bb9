// The kernel as a compiler vectorises it, with the exponential, sine and cosine of the vector library (glibc's libmvec): needs
// -O3 -ffast-math. Vectors of q, nodes one after the other, as in direct.c. Loops of their own for each function: sine and
// cosine of one value become a call that is not vectorised.

#include <math.h>

void by_compiler(long points, const float *restrict x, const float *restrict y, const float *restrict z, const float *restrict d,
                 long nodes, const float *restrict node, double *restrict out, long stride, int is_damped) {
    enum { BLOCK = 256 };
    for (long first = 0; first < points; first += BLOCK) {
        float sum[6][BLOCK], p[BLOCK], c[BLOCK], s[BLOCK];
        const float *restrict qx = x + first, *restrict qy = y + first, *restrict qz = z + first, *restrict loss = d + first;
        for (int m = 0; m < 6; m++)
            for (int i = 0; i < BLOCK; i++) sum[m][i] = 0;
        for (long t = 0; t < nodes; t++) {
            const float *n = node + 8 * t;
            const float nx = n[0], ny = n[1], nz = n[2];
            for (int i = 0; i < BLOCK; i++) p[i] = 6.2831853f * (qx[i] * nx + qy[i] * ny + qz[i] * nz);
            for (int i = 0; i < BLOCK; i++) c[i] = cosf(p[i]);
            for (int i = 0; i < BLOCK; i++) s[i] = sinf(p[i]);
            if (is_damped)
                for (int i = 0; i < BLOCK; i++) {
                    const float e = expf(0.69314718f * loss[i] * nz);
                    c[i] *= e;
                    s[i] *= e;
                }
            for (int m = 0; m < 3; m++) {
                const float a = n[3 + m];
                for (int i = 0; i < BLOCK; i++) {
                    sum[2 * m][i] += a * c[i];
                    sum[2 * m + 1][i] += a * s[i];
                }
            }
        }
        for (int m = 0; m < 6; m++)
            for (int i = 0; i < BLOCK; i++) out[m * stride + first + i] += sum[m][i];
    }
}
