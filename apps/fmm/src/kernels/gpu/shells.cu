// Points and surfaces: charges of leaves to surfaces, X lists; surfaces to points of leaves, W lists. Surfaces have
// SHELL points; a box is its middle and half width. A block takes a box, or some targets of a leaf.
#define SHELL_THREADS 128

// Charges in ranges of sources to potentials at a surface: check[box][component][SHELL] += scale * potential.
extern "C" __global__ void __launch_bounds__(SHELL_THREADS)
to_shells(const real4 *places, const real *more, const real4 *boxes, const real *shell, real radius, const int *items,
          const int *ranges, real *check, const real *scales, real k) {
    // Box, its level, first range, ranges.
    const int *item = items + 4 * blockIdx.x;
    const real4 box = boxes[item[0]];
    __shared__ real4 s[SHELL_THREADS];
    __shared__ real m[SHELL_THREADS * (IN - 1) + 1];
    for (int start = 0; start < SHELL; start += SHELL_THREADS) {
        const int i = start + threadIdx.x, at = i < SHELL ? i : 0;
        const real h = box.w * radius;
        const real tx = box.x + h * shell[at], ty = box.y + h * shell[SHELL + at], tz = box.z + h * shell[2 * SHELL + at];
        real sum[POTENTIALS] = {0};
        for (int r = 0; r < item[3]; r++) {
            const int from = ranges[2 * (item[2] + r)], to = ranges[2 * (item[2] + r) + 1];
            for (int base = from; base < to; base += SHELL_THREADS) {
                const int n = to - base < SHELL_THREADS ? to - base : SHELL_THREADS;
                __syncthreads();
                if ((int)threadIdx.x < n) {
                    s[threadIdx.x] = places[base + threadIdx.x];
                    for (int c = 0; c < IN - 1; c++)
                        m[threadIdx.x * (IN - 1) + c] = more[(long long)(base + threadIdx.x) * (IN - 1) + c];
                }
                __syncthreads();
                for (int j = 0; j < n; j++) {
                    real q[IN];
                    q[0] = s[j].w;
                    for (int c = 1; c < IN; c++) q[c] = m[j * (IN - 1) + c - 1];
                    pair<0, 0>(sum, q, k, tx - s[j].x, ty - s[j].y, tz - s[j].z);
                }
            }
        }
        if (i < SHELL)
            for (int c = 0; c < POTENTIALS; c++)
                check[(long long)item[0] * SHELL * IN + c * SHELL + i] += scales[item[1]] * sum[c];
    }
}

// Equivalent charges at points of leaves: those of the leaf itself (its outer surface), then those of W lists (inner).
extern "C" __global__ void __launch_bounds__(SHELL_THREADS)
from_shells(const real4 *boxes, const real *shell, real outer, real inner, const real *down, const real *up,
            const real *x, const real *y, const real *z, const int *items, const int *w, real *out, long long stride, real k) {
    // Box (or -1 where its own surface has nothing), first target, targets, first of W, count of W.
    const int *item = items + 5 * blockIdx.x;
    const int first = item[1], count = item[2];
    const int at = first + ((int)threadIdx.x < count ? threadIdx.x : 0);
    const real tx = x[at], ty = y[at], tz = z[at];
    real sum[OUT] = {0};
    __shared__ real4 s[SHELL_THREADS];
    __shared__ real m[SHELL_THREADS * (IN - 1) + 1];
    for (int b = item[0] < 0 ? 0 : -1; b < item[4]; b++) {
        const long long which = b < 0 ? item[0] : w[item[3] + b];
        const real4 box = boxes[which];
        const real h = box.w * (b < 0 ? outer : inner);
        const real *charge = (b < 0 ? down : up) + which * SHELL * IN;
        for (int base = 0; base < SHELL; base += SHELL_THREADS) {
            const int n = SHELL - base < SHELL_THREADS ? SHELL - base : SHELL_THREADS;
            __syncthreads();
            if ((int)threadIdx.x < n) {
                const int i = base + threadIdx.x;
                s[threadIdx.x].x = box.x + h * shell[i], s[threadIdx.x].y = box.y + h * shell[SHELL + i];
                s[threadIdx.x].z = box.z + h * shell[2 * SHELL + i], s[threadIdx.x].w = charge[i * IN];
                for (int c = 0; c < IN - 1; c++) m[threadIdx.x * (IN - 1) + c] = charge[i * IN + c + 1];
            }
            __syncthreads();
            for (int j = 0; j < n; j++) {
                real q[IN];
                q[0] = s[j].w;
                for (int c = 1; c < IN; c++) q[c] = m[j * (IN - 1) + c - 1];
                pair<SLOPES, 0>(sum, q, k, tx - s[j].x, ty - s[j].y, tz - s[j].z);
            }
        }
    }
    if ((int)threadIdx.x < count)
        for (int c = 0; c < OUT; c++) out[c * stride + first + threadIdx.x] += sum[c];
}

// Charges into the order of the boxes: the first beside the place, the others in `more`.
extern "C" __global__ void order_charges(long long count, const int *from, const real *charges, real4 *places, real *more) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= count) return;
    const real *q = charges + (long long)from[i] * IN;
    places[i].w = q[0];
    for (int c = 1; c < IN; c++) more[i * (IN - 1) + c - 1] = q[c];
}

// Sums back into the order of the targets.
extern "C" __global__ void order_sums(long long count, const int *from, const real *in, real *out) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int c = 0; c < OUT; c++) out[c * count + from[i]] = in[c * count + i];
}

extern "C" __global__ void clear(long long count, real *x) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (long long)blockDim.x) x[i] = 0;
}
