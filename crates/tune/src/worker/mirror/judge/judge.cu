// Arrays compared on a GPU. Each kernel takes one structure.

typedef unsigned char byte;
typedef unsigned long long word;

// What was found in an array. Errors and values are bits of non-negative doubles, which have the order of integers.
struct Found {
    word worst, largest, odd, wrong, changed, hash;
};

struct Compare {
    const byte *own, *right, *before;
    Found *found;
    word count, bytes, real;
    double atol, rtol;
};

struct Hash {
    const byte *own;
    Found *found;
    word bytes;
};

__device__ inline double real_at(const byte *array, word i, word bytes) {
    return bytes == 8 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

__device__ inline bool differ(const byte *x, const byte *y, word i, word bytes) {
    switch (bytes) {
    case 8: return ((const word *)x)[i] != ((const word *)y)[i];
    case 4: return ((const unsigned *)x)[i] != ((const unsigned *)y)[i];
    case 2: return ((const unsigned short *)x)[i] != ((const unsigned short *)y)[i];
    default: return x[i] != y[i];
    }
}

extern "C" __global__ void judge_compare(Compare p) {
    __shared__ word sums[5];
    if (threadIdx.x < 5) sums[threadIdx.x] = 0;
    __syncthreads();
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    double worst = 0, largest = 0;
    word odd = 0, wrong = 0, changed = 0;
    const word step = (word)gridDim.x * blockDim.x;
    for (word i = (word)blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += step) {
        if (p.before && differ(p.own, p.before, i, p.bytes)) changed++;
        if (!p.right) continue;
        if (p.real) {
            const double x = real_at(p.own, i, p.bytes), y = real_at(p.right, i, p.bytes);
            const double error = fabs(x - y), size = fabs(y);
            // Infinities and what is not a number are the host's to judge.
            if (!(error < infinity && size < infinity)) {
                odd++;
                continue;
            }
            if (error > worst) worst = error;
            if (size > largest) largest = size;
            if (!(error <= p.atol + p.rtol * fabs(x))) wrong++;
        } else if (differ(p.own, p.right, i, p.bytes)) {
            odd++;
        }
    }
    atomicMax(&sums[0], (word)__double_as_longlong(worst));
    atomicMax(&sums[1], (word)__double_as_longlong(largest));
    if (odd) atomicAdd(&sums[2], odd);
    if (wrong) atomicAdd(&sums[3], wrong);
    if (changed) atomicAdd(&sums[4], changed);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMax(&p.found->worst, sums[0]);
        atomicMax(&p.found->largest, sums[1]);
        atomicAdd(&p.found->odd, sums[2]);
        atomicAdd(&p.found->wrong, sums[3]);
        atomicAdd(&p.found->changed, sums[4]);
    }
}

// A word with its place; each changed word changes the sum. The last steps of SplitMix64.
__device__ inline word mixed(word w, word i) {
    w ^= i * 0x9e3779b97f4a7c15ULL;
    w = (w ^ (w >> 30)) * 0xbf58476d1ce4e5b9ULL;
    w = (w ^ (w >> 27)) * 0x94d049bb133111ebULL;
    return w ^ (w >> 31);
}

extern "C" __global__ void judge_hash(Hash p) {
    __shared__ word sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const word whole = p.bytes / 8, step = (word)gridDim.x * blockDim.x;
    const word first = (word)blockIdx.x * blockDim.x + threadIdx.x;
    word own = 0;
    for (word i = first; i < whole; i += step) own += mixed(((const word *)p.own)[i], i + 1);
    if (first == 0 && p.bytes % 8) {
        word last = 0;
        for (word k = 8 * whole; k < p.bytes; k++) last |= (word)p.own[k] << (8 * (k - 8 * whole));
        own += mixed(last, whole + 1);
    }
    atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&p.found->hash, sum);
}
