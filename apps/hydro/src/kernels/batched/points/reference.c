/* Kernels 1 and 2 in extended precision, and Jacobians that a mesh may have. */
#include <math.h>
#include <stdint.h>

enum { N = dim, SQUARE = dim * dim };
typedef long double Wide;

/* Near the unit matrix. */
void bend(double *jacobian, double *rate, double *energy, double *mass, double *out) {
    (void)rate, (void)energy, (void)mass, (void)out;
    for (int i = 0; i < SQUARE; i++)
        for (int64_t p = 0; p < total; p++) {
            double *x = jacobian + (int64_t)i * total + p;
            *x = 0.25 * *x + (i % (N + 1) == 0);
        }
}

static Wide minor_of(const Wide *j, int a, int b) {
    if (N == 2) return ((a + b) % 2 ? -1 : 1) * j[(1 - a) * N + 1 - b];
    const int c = (a + 1) % N, d = (a + 2) % N, e = (b + 1) % N, f = (b + 2) % N;
    return j[c * N + e] * j[d * N + f] - j[c * N + f] * j[d * N + e];
}

/* Makes s diagonal until nothing is left beside it; the columns of v are its directions. */
static void diagonal(Wide *s, Wide *v) {
    for (int i = 0; i < SQUARE; i++) v[i] = i % (N + 1) == 0;
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < N; p++)
            for (int q = p + 1; q < N; q++) {
                if (s[p * N + q] == 0) continue;
                const Wide angle = atan2l(2 * s[p * N + q], s[q * N + q] - s[p * N + p]) / 2;
                const Wide c = cosl(angle), e = sinl(angle);
                for (int k = 0; k < N; k++) {
                    const Wide x = s[k * N + p], y = s[k * N + q];
                    s[k * N + p] = c * x - e * y, s[k * N + q] = e * x + c * y;
                }
                for (int k = 0; k < N; k++) {
                    const Wide x = s[p * N + k], y = s[q * N + k];
                    s[p * N + k] = c * x - e * y, s[q * N + k] = e * x + c * y;
                    const Wide a = v[k * N + p], b = v[k * N + q];
                    v[k * N + p] = c * a - e * b, v[k * N + q] = e * a + c * b;
                }
                if (fabsl(s[p * N + q]) < 1e-40L) s[p * N + q] = s[q * N + p] = 0;
            }
}

void points_of(const double *jacobian, const double *rate, const double *energy, const double *mass,
               double *out) {
#pragma omp parallel for
    for (int64_t p = 0; p < total; p++) {
        Wide j[SQUARE], t[SQUARE], s[SQUARE], v[SQUARE], det = 0;
        for (int i = 0; i < SQUARE; i++) j[i] = jacobian[(int64_t)i * total + p];
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) t[b * N + a] = minor_of(j, a, b);
        for (int k = 0; k < N; k++) det += j[k] * t[k * N];
#if number == 1
        (void)rate, (void)energy, (void)mass;
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                s[a * N + b] = 0;
                for (int k = 0; k < N; k++) s[a * N + b] += j[k * N + a] * j[k * N + b];
            }
        diagonal(s, v);
        Wide least = s[0];
        for (int k = 1; k < N; k++) least = s[k * N + k] < least ? s[k * N + k] : least;
        for (int i = 0; i < SQUARE; i++) out[(int64_t)i * total + p] = (double)t[i];
        out[(int64_t)SQUARE * total + p] = (double)det;
        out[(int64_t)(SQUARE + 1) * total + p] = (double)sqrtl(least > 0 ? least : 0);
#else
        Wide l[SQUARE], eps[SQUARE];
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                l[a * N + b] = 0;
                for (int k = 0; k < N; k++)
                    l[a * N + b] += rate[(int64_t)(a * N + k) * total + p] * t[k * N + b] / det;
            }
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) eps[a * N + b] = s[a * N + b] = (l[a * N + b] + l[b * N + a]) / 2;
        diagonal(s, v);
        int least = 0;
        for (int k = 1; k < N; k++)
            if (s[k * N + k] < s[least * N + least]) least = k;
        const Wide mu = s[least * N + least];
        Wide image = 0, length = 0;
        for (int a = 0; a < N; a++) {
            Wide sum = 0;
            for (int k = 0; k < N; k++) sum += j[a * N + k] * v[k * N + least];
            image += sum * sum, length += v[a * N + least] * v[a * N + least];
        }
        const Wide gamma = 1.4, h = sqrtl(image / length) / 32, density = mass[p] / det, e = energy[p];
        const Wide sound = sqrtl(gamma * (gamma - 1) * e);
        const Wide viscosity = 2 * density * h * h * fabsl(mu) + (mu < 0 ? density * h * sound / 2 : 0);
        for (int i = 0; i < SQUARE; i++)
            out[(int64_t)i * total + p] = (double)(viscosity * eps[i] - (i % (N + 1) == 0 ? (gamma - 1) * density * e : 0));
        out[(int64_t)SQUARE * total + p] = (double)viscosity;
#endif
    }
}
