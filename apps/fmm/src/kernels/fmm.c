// The kernels of one instruction set and precision.
#include "direct.c"
#include "matrix.c"
#include "fourier.c"

typedef struct {
    long panel;
    void (*sums[7])(const sums *);
    real (*mix)(long, int);
    void (*apply)(long, long, const real *, long, const real *const *, real *const *, int);
    void (*forward)(int, int, const real *, const real *, real *, long, real *);
    void (*back)(int, const real *, const real *, long, real *, real *);
    void (*hadamard)(int, const unsigned *, const unsigned *, const real *, const real *, real *);
} kernels;

const kernels NAME = {
    2 * VBYTES / sizeof(real),
    {laplace, laplace_gradient, yukawa, yukawa_gradient, helmholtz, helmholtz_gradient, stokes},
    mix, apply, forward, back, hadamard,
};
