/* A stand-in for NVIDIA's libcupti: the records of a GPU that ran for as long as the process, handed out at each flush.
 *
 * FAKE_CUPTI=busy: another tool has subscribed; =none: no records. */
#include "../../src/activity/cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static buffer_requested request;
static buffer_completed complete;
static uint64_t written_until;

/* Unlike the monotonic clock by an hour. */
static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + 3600ull * 1000000000u;
}

static int is(const char *what) {
    const char *value = getenv("FAKE_CUPTI");
    return value && strcmp(value, what) == 0;
}

uint32_t cuptiSubscribe(void **subscriber, api_callback callback, void *user) {
    (void)callback, (void)user;
    *subscriber = &lock;
    return is("busy") ? RESULT_MULTIPLE_SUBSCRIBERS : RESULT_SUCCESS;
}

uint32_t cuptiActivityRegisterCallbacks(buffer_requested r, buffer_completed c) {
    request = r;
    complete = c;
    written_until = now();
    return RESULT_SUCCESS;
}

uint32_t cuptiActivityEnable(uint32_t kind) {
    (void)kind;
    return RESULT_SUCCESS;
}

uint32_t cuptiGetTimestamp(uint64_t *at) {
    *at = now();
    return RESULT_SUCCESS;
}

uint32_t cuptiGetVersion(uint32_t *version) {
    *version = 130500;
    return RESULT_SUCCESS;
}

uint32_t cuptiGetResultString(uint32_t result, const char **text) {
    *text = result == RESULT_MULTIPLE_SUBSCRIBERS ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "?";
    return RESULT_SUCCESS;
}

uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n) {
    (void)context, (void)stream;
    *n = 0;
    return RESULT_SUCCESS;
}

uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record) {
    /* Records of newer versions are longer than what is declared. */
    static const size_t size[] = {[KIND_MEMCPY] = 128, [KIND_MEMSET] = 104, [KIND_CONCURRENT_KERNEL] = 256};
    uint8_t *at = *record ? (uint8_t *)*record + size[*(uint32_t *)*record] : buffer;
    if (at >= buffer + valid) return RESULT_MAX_LIMIT_REACHED;
    *record = at;
    return RESULT_SUCCESS;
}

/* Every 10 ms: a product of 6 ms, a sum of 2 ms, a copy of 1 ms, and nothing for 1 ms. */
uint32_t cuptiActivityFlushAll(uint32_t flag) {
    (void)flag;
    uint8_t *buffer = NULL;
    size_t size = 0, most = 0, used = 0;
    if (is("none")) return RESULT_SUCCESS;
    pthread_mutex_lock(&lock);
    request(&buffer, &size, &most);
    const uint64_t ms = 1000000;
    for (; buffer && written_until + 10 * ms <= now() && used + 1024 < size; written_until += 10 * ms) {
        uint64_t t = written_until;
        kernel_record k = {.kind = KIND_CONCURRENT_KERNEL, .start = t, .end = t + 6 * ms, .stream_id = 7,
                           .grid = {256, 1, 1}, .block = {384, 1, 1}, .name = "nvjet_tst_128x256_64x4_h_bz_coopA_NTT"};
        memset(buffer + used, 0, 640);
        memcpy(buffer + used, &k, sizeof k);
        k.start = t + 6 * ms, k.end = t + 8 * ms, k.grid[0] = 4096, k.block[0] = 256;
        k.name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEviT0_";
        memcpy(buffer + used + 256, &k, sizeof k);
        copy_record c = {.kind = KIND_MEMCPY, .copy_kind = 1, .bytes = 1 << 24, .start = t + 8 * ms, .end = t + 9 * ms, .stream_id = 7};
        memcpy(buffer + used + 512, &c, sizeof c);
        used += 640;
    }
    pthread_mutex_unlock(&lock);
    complete(NULL, 0, buffer, size, used);
    return RESULT_SUCCESS;
}
