// Points and surfaces: charges of leaves to surfaces, X lists; surfaces to points of leaves, W lists. Surfaces have
// SURFACE points; a box is its center and half width. A block computes a box, or some targets of a leaf.
#define SURFACE_THREADS 128

// Charges in ranges of sources to potentials at a surface: check[box][component][SURFACE] += scale * potential.
extern "C" __global__ void __launch_bounds__(SURFACE_THREADS)
points_to_surfaces(PointsToSurfaces a) {
    const real4 *positions = a.positions, *boxes = a.boxes;
    const real *more = a.more, *surface = a.surface, *scales = a.scales;
    const real radius = (real)a.radius, k = (real)a.parameter;
    const int *ranges = a.ranges;
    real *check = a.check;
    // Box, its level, first range, ranges.
    const int *item = a.items + 4 * blockIdx.x;
    const real4 box = boxes[item[0]];
    __shared__ real4 s[SURFACE_THREADS];
    __shared__ real m[SURFACE_THREADS * (IN - 1) + 1];
    for (int start = 0; start < SURFACE; start += SURFACE_THREADS) {
        const int i = start + threadIdx.x, at = i < SURFACE ? i : 0;
        const real h = box.w * radius;
        const real tx = box.x + h * surface[at], ty = box.y + h * surface[SURFACE + at], tz = box.z + h * surface[2 * SURFACE + at];
        real sum[POTENTIALS] = {0};
        for (int r = 0; r < item[3]; r++) {
            const int from = ranges[2 * (item[2] + r)], to = ranges[2 * (item[2] + r) + 1];
            for (int base = from; base < to; base += SURFACE_THREADS) {
                const int n = to - base < SURFACE_THREADS ? to - base : SURFACE_THREADS;
                __syncthreads();
                if ((int)threadIdx.x < n) {
                    s[threadIdx.x] = positions[base + threadIdx.x];
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
        if (i < SURFACE)
            for (int c = 0; c < POTENTIALS; c++)
                check[(long long)item[0] * SURFACE * IN + c * SURFACE + i] += scales[item[1]] * sum[c];
    }
}

// Equivalent charges at points of leaves: those of the leaf itself (its outer surface), then those of W lists (inner).
extern "C" __global__ void __launch_bounds__(SURFACE_THREADS)
surfaces_to_points(SurfacesToPoints a) {
    const real4 *boxes = a.boxes;
    const real *surface = a.surface, *down = a.down, *up = a.up, *x = a.x, *y = a.y, *z = a.z;
    const real outer = (real)a.outer, inner = (real)a.inner, k = (real)a.parameter;
    const int *w = a.w;
    const long long stride = a.stride;
    real *out = a.out;
    // Box (or -1 where it has no downward equivalent charges), first target, targets, first of W, count of W.
    const int *item = a.items + 5 * blockIdx.x;
    const int first = item[1], count = item[2];
    const int at = first + ((int)threadIdx.x < count ? threadIdx.x : 0);
    const real tx = x[at], ty = y[at], tz = z[at];
    real sum[OUT] = {0};
    __shared__ real4 s[SURFACE_THREADS];
    __shared__ real m[SURFACE_THREADS * (IN - 1) + 1];
    for (int b = item[0] < 0 ? 0 : -1; b < item[4]; b++) {
        const long long which = b < 0 ? item[0] : w[item[3] + b];
        const real4 box = boxes[which];
        const real h = box.w * (b < 0 ? outer : inner);
        const real *charge = (b < 0 ? down : up) + which * SURFACE * IN;
        for (int base = 0; base < SURFACE; base += SURFACE_THREADS) {
            const int n = SURFACE - base < SURFACE_THREADS ? SURFACE - base : SURFACE_THREADS;
            __syncthreads();
            if ((int)threadIdx.x < n) {
                const int i = base + threadIdx.x;
                s[threadIdx.x].x = box.x + h * surface[i], s[threadIdx.x].y = box.y + h * surface[SURFACE + i];
                s[threadIdx.x].z = box.z + h * surface[2 * SURFACE + i], s[threadIdx.x].w = charge[i * IN];
                for (int c = 0; c < IN - 1; c++) m[threadIdx.x * (IN - 1) + c] = charge[i * IN + c + 1];
            }
            __syncthreads();
            for (int j = 0; j < n; j++) {
                real q[IN];
                q[0] = s[j].w;
                for (int c = 1; c < IN; c++) q[c] = m[j * (IN - 1) + c - 1];
                pair<GRADIENT, 0>(sum, q, k, tx - s[j].x, ty - s[j].y, tz - s[j].z);
            }
        }
    }
    if ((int)threadIdx.x < count)
        for (int c = 0; c < OUT; c++) out[c * stride + first + threadIdx.x] += sum[c];
}

// Charges into the order of the boxes: the first next to the position, the others in `more`.
extern "C" __global__ void permute_charges(Permute a) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= a.count) return;
    const real *q = a.from + (long long)a.index[i] * IN;
    ((real4 *)a.to)[i].w = q[0];
    for (int c = 1; c < IN; c++) a.more[i * (IN - 1) + c - 1] = q[c];
}

// Results into the order of the targets.
extern "C" __global__ void permute_results(Permute a) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= a.count) return;
    for (int c = 0; c < OUT; c++) a.to[c * a.count + a.index[i]] = a.from[c * a.count + i];
}

// Values of boxes, `each` a box, to other boxes.
extern "C" __global__ void copy_boxes(CopyBoxes a) {
    for (long long i = blockIdx.x; i < a.count; i += gridDim.x) {
        const real *from = a.from + (long long)a.from_boxes[i] * a.each;
        real *to = a.to + (long long)a.to_boxes[i] * a.each;
        for (long long j = threadIdx.x; j < a.each; j += blockDim.x) to[j] = from[j];
    }
}

extern "C" __global__ void clear(Clear a) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < a.count; i += gridDim.x * (long long)blockDim.x)
        a.values[i] = 0;
}
