// What all methods share: moments of a surface, and F from its sums. Compiled once for each instruction set: VBYTES is
// the size of a vector, ORDER the highest power of q in the moments.

typedef double v __attribute__((vector_size(VBYTES)));
typedef double anywhere __attribute__((vector_size(VBYTES), aligned(8)));
#define LANES ((long)(VBYTES / sizeof(double)))
#define TERMS ((ORDER + 1) * (ORDER + 2) * (ORDER + 3) / 6)

#define JOIN(a, b) a##_##b
#define NAME(a, b) JOIN(a, b)

// terms[n] += sum over nodes of weight x^a y^b z^c, in the order of the loops over a, b and c. Whole vectors of nodes.
void NAME(moments, ISA)(long nodes, const double *x, const double *y, const double *z, const double *weight,
                        double *terms) {
    v sum[TERMS] = {{0}};
    for (long t = 0; t < nodes; t += LANES) {
        const v vx = *(const anywhere *)(x + t), vy = *(const anywhere *)(y + t), vz = *(const anywhere *)(z + t);
        v *to = sum, px = *(const anywhere *)(weight + t);
        for (int a = 0; a <= ORDER; a++) {
            v py = px;
            for (int b = 0; b <= ORDER - a; b++) {
                v pz = py;
                for (int c = 0; c <= ORDER - a - b; c++) {
                    *to++ += pz;
                    pz *= vz;
                }
                py *= vy;
            }
            px *= vx;
        }
    }
    for (int n = 0; n < TERMS; n++)
        for (long l = 0; l < LANES; l++) terms[n] += sum[n][l];
}

// F = -i (along + conj(q_z) up) / |q|^2 at positions with the same q_z; complex numbers as pairs.
void NAME(finish, ISA)(long positions, const double *restrict xy, double z_re, double z_im, const double *restrict along,
                       const double *restrict up, double *restrict out) {
    const double square = z_re * z_re + z_im * z_im;
    for (long j = 0; j < positions; j++) {
        const double over = 1 / (xy[2 * j] * xy[2 * j] + xy[2 * j + 1] * xy[2 * j + 1] + square);
        const double re = along[2 * j] + z_re * up[2 * j] + z_im * up[2 * j + 1];
        const double im = along[2 * j + 1] + z_re * up[2 * j + 1] - z_im * up[2 * j];
        out[2 * j] = im * over;
        out[2 * j + 1] = -re * over;
    }
}

// By these the caller finds them.
__typeof__(NAME(moments, ISA)) *const NAME(moments_at, ISA) = NAME(moments, ISA);
__typeof__(NAME(finish, ISA)) *const NAME(finish_at, ISA) = NAME(finish, ISA);
