// Blurs a random image by a 5 x 5 Gaussian, tile by tile, and prints the time and the norm of the result.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const double weight[5] = {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};

static void blur(long n, long tile_y, long tile_x, const double *in, double *out) {
    for (long y0 = 2; y0 < n - 2; y0 += tile_y)
        for (long x0 = 2; x0 < n - 2; x0 += tile_x)
            for (long y = y0; y < y0 + tile_y && y < n - 2; y++)
                for (long x = x0; x < x0 + tile_x && x < n - 2; x++) {
                    double sum = 0.0;
                    for (long i = 0; i < 5; i++)
                        for (long j = 0; j < 5; j++)
                            sum += weight[i] * weight[j] * in[(y + i - 2) * n + x + j - 2];
                    out[y * n + x] = sum;
                }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: blur SIZE TILE_Y TILE_X\n");
        return 2;
    }
    long n = atol(argv[1]), tile_y = atol(argv[2]), tile_x = atol(argv[3]);
    if (n < 8 || n > 20000 || tile_y < 1 || tile_x < 1) {
        fprintf(stderr, "blur: sizes must be positive, the image at most 20000 wide\n");
        return 2;
    }
    double *in = malloc(sizeof(double) * (size_t)(n * n)), *out = calloc((size_t)(n * n), sizeof(double));
    if (!in || !out)
        return 1;
    unsigned long long state = 1;
    for (long i = 0; i < n * n; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        in[i] = (double)(state >> 11) / 9007199254740992.0;
    }
    double start = now();
    blur(n, tile_y, tile_x, in, out);
    double seconds = now() - start;
    long double sum = 0.0L;
    for (long i = 0; i < n * n; i++)
        sum += (long double)out[i] * out[i];
    printf("seconds: %.9f\npixels per second: %.6e\nnorm: %.15e\n", seconds, (double)(n * n) / seconds, (double)sqrtl(sum));
    return 0;
}
