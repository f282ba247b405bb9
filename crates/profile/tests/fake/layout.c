/* Compared by the compiler: what the injected library declares of CUPTI, and NVIDIA's headers. */
#include <cuda.h>
#include <cupti.h>

#include "../../src/activity/cupti.h"

#define SAME(ours, field, theirs, name) \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, name) && \
        sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->name), #theirs "." #name)
#define GRID(ours, k, name) _Static_assert(offsetof(kernel_record, ours) + 4 * k == offsetof(KERNEL, name), #name)

SAME(kernel_record, kind, KERNEL, kind);
SAME(kernel_record, registers_per_thread, KERNEL, registersPerThread);
SAME(kernel_record, start, KERNEL, start);
SAME(kernel_record, end, KERNEL, end);
SAME(kernel_record, device_id, KERNEL, deviceId);
SAME(kernel_record, context_id, KERNEL, contextId);
SAME(kernel_record, stream_id, KERNEL, streamId);
GRID(grid, 0, gridX);
GRID(grid, 2, gridZ);
GRID(block, 0, blockX);
GRID(block, 2, blockZ);
SAME(kernel_record, static_shared, KERNEL, staticSharedMemory);
SAME(kernel_record, dynamic_shared, KERNEL, dynamicSharedMemory);
SAME(kernel_record, name, KERNEL, name);
SAME(copy_record, copy_kind, COPY, copyKind);
SAME(copy_record, bytes, COPY, bytes);
SAME(copy_record, start, COPY, start);
SAME(copy_record, end, COPY, end);
SAME(copy_record, device_id, COPY, deviceId);
SAME(copy_record, stream_id, COPY, streamId);
SAME(copy_record, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(copy_record, start, CUpti_ActivityMemcpyPtoP4, start);
SAME(copy_record, end, CUpti_ActivityMemcpyPtoP4, end);
SAME(copy_record, device_id, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME(set_record, bytes, SET, bytes);
SAME(set_record, start, SET, start);
SAME(set_record, end, SET, end);
SAME(set_record, device_id, SET, deviceId);
SAME(set_record, stream_id, SET, streamId);
_Static_assert(KIND_MEMCPY == CUPTI_ACTIVITY_KIND_MEMCPY && KIND_MEMSET == CUPTI_ACTIVITY_KIND_MEMSET &&
    KIND_CONCURRENT_KERNEL == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && KIND_MEMCPY2 == CUPTI_ACTIVITY_KIND_MEMCPY2, "kinds");
_Static_assert(RESULT_MULTIPLE_SUBSCRIBERS == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
    RESULT_MAX_LIMIT_REACHED == CUPTI_ERROR_MAX_LIMIT_REACHED, "results");
_Static_assert(FLUSH_FORCED == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, "flags");
