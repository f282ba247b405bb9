/* What the injected library uses of CUPTI, declared here so that no build needs NVIDIA's headers.
 *
 * Only the leading fields of each record are declared: they have been the same since CUDA 11, newer versions append others. The
 * test `the_records_are_laid_out_as_in_the_headers` compares their offsets with the headers of a CUDA version. */
#ifndef GREENUP_CUPTI_H
#define GREENUP_CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum { KIND_MEMCPY = 1, KIND_MEMSET = 2, KIND_CONCURRENT_KERNEL = 10, KIND_MEMCPY2 = 22 };
enum { RESULT_SUCCESS = 0, RESULT_MAX_LIMIT_REACHED = 12, RESULT_MULTIPLE_SUBSCRIBERS = 39 };
enum { FLUSH_FORCED = 1 };

#define RECORD __attribute__((packed, aligned(8)))

typedef struct RECORD {
    uint32_t kind;
    uint8_t cache_config;
    uint8_t shared_memory_config;
    uint16_t registers_per_thread;
    uint32_t partitioned_requested;
    uint32_t partitioned_executed;
    uint64_t start;
    uint64_t end;
    uint64_t completed;
    uint32_t device_id;
    uint32_t context_id;
    uint32_t stream_id;
    int32_t grid[3];
    int32_t block[3];
    int32_t static_shared;
    int32_t dynamic_shared;
    uint32_t local_per_thread;
    uint32_t local_total;
    uint32_t correlation_id;
    int64_t grid_id;
    const char *name;
} kernel_record;

typedef struct RECORD {
    uint32_t kind;
    uint8_t copy_kind;
    uint8_t source_kind;
    uint8_t target_kind;
    uint8_t flags;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t device_id;
    uint32_t context_id;
    uint32_t stream_id;
} copy_record;

typedef struct RECORD {
    uint32_t kind;
    uint32_t value;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t device_id;
    uint32_t context_id;
    uint32_t stream_id;
} set_record;

typedef void (*buffer_requested)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*buffer_completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
typedef void (*api_callback)(void *user, uint32_t domain, uint32_t id, const void *data);

#endif
