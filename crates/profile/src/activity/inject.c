/* Loaded into a program by the CUDA driver (CUDA_INJECTION64_PATH): writes when each kernel, copy and memset began and ended.
 *
 * Environment: GREENUP_ACTIVITY_DIR, the folder for one file a process; GREENUP_CUPTI, the path of libcupti. The program never
 * fails because of this library: what goes wrong becomes a message in the file.
 *
 * A file is a sequence of frames in this machine's byte order: two words of 32 bits, the frame's type and the length of what
 * follows, a multiple of 8. `file.rs` reads them. */
#define _GNU_SOURCE
#include "cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_CLOCK = 1, FRAME_NAME, FRAME_KERNEL, FRAME_COPY, FRAME_SET, FRAME_DROPPED, FRAME_MESSAGE, FRAME_DEVICE, FRAME_END };

/* A killed process loses what was recorded after the last flush. */
enum { FLUSH_MS = 200 };
enum { BUFFER_BYTES = 1 << 22, POOL = 8, OUT_BYTES = 1 << 16, NAMES = 1 << 12, DEVICES = 64 };

static struct {
    uint32_t (*subscribe)(void **, api_callback, void *);
    uint32_t (*register_callbacks)(buffer_requested, buffer_completed);
    uint32_t (*enable)(uint32_t);
    uint32_t (*flush)(uint32_t);
    uint32_t (*next)(uint8_t *, size_t, void **);
    uint32_t (*dropped)(void *, uint32_t, size_t *);
    uint32_t (*timestamp)(uint64_t *);
    uint32_t (*version)(uint32_t *);
    uint32_t (*result_string)(uint32_t, const char **);
} cupti;

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Guards the file, the names and the pool. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
/* Held while CUPTI flushes its buffers: it must not flush while the process ends. */
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
static volatile int stopped;
static uint8_t out[OUT_BYTES];
static size_t out_used;
static uint8_t *pool[POOL];
static int pooled;
static struct { uint64_t hash; char *text; uint32_t id; } names[NAMES];
static uint32_t name_count;
static uint8_t device_seen[DEVICES], device_written[DEVICES];

static uint64_t clock_ns(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void drain(void) {
    size_t done = 0;
    while (file >= 0 && done < out_used) {
        ssize_t n = write(file, out + done, out_used - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            /* A full disk: the file ends with a whole frame or is cut, and its reader says so. */
            close(file);
            file = -1;
            break;
        }
        done += (size_t)n;
    }
    out_used = 0;
}

static void put(const void *data, size_t bytes) {
    const uint8_t *from = data;
    while (bytes > 0) {
        size_t room = OUT_BYTES - out_used, n = bytes < room ? bytes : room;
        memcpy(out + out_used, from, n);
        out_used += n;
        from += n;
        bytes -= n;
        if (out_used == OUT_BYTES) drain();
    }
}

static void frame(uint32_t type, const void *data, uint32_t bytes) {
    uint32_t head[2] = {type, bytes};
    put(head, sizeof head);
    put(data, bytes);
}

/* A frame of an optional number and a text, padded with zeros. */
static void text_frame(uint32_t type, uint64_t number, int numbered, const char *text) {
    static const uint8_t zeros[8];
    size_t length = strlen(text), padded = (length + 7) & ~(size_t)7;
    uint32_t head[2] = {type, (uint32_t)(padded + (numbered ? 8 : 0))};
    put(head, sizeof head);
    if (numbered) put(&number, 8);
    put(text, length);
    put(zeros, padded - length);
}

static void message(const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pthread_mutex_lock(&lock);
    text_frame(FRAME_MESSAGE, 0, 0, text);
    drain();
    pthread_mutex_unlock(&lock);
}

static void clock_frame(uint32_t type) {
    uint64_t at = 0;
    uint32_t version = 0;
    uint64_t before = clock_ns(CLOCK_MONOTONIC);
    if (cupti.timestamp) cupti.timestamp(&at);
    uint64_t after = clock_ns(CLOCK_MONOTONIC);
    if (cupti.version) cupti.version(&version);
    uint64_t data[4] = {at, before + (after - before) / 2, (uint64_t)getpid(), version};
    frame(type, data, sizeof data);
}

static uint32_t name_id(const char *name) {
    uint64_t hash = 1469598103934665603u;
    for (const char *c = name; *c; c++) hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    size_t at = hash % NAMES;
    for (size_t probe = 0; probe < NAMES; probe++, at = (at + 1) % NAMES) {
        if (!names[at].text) break;
        if (names[at].hash == hash && strcmp(names[at].text, name) == 0) return names[at].id;
    }
    uint32_t id = name_count++;
    text_frame(FRAME_NAME, id, 1, name);
    /* A full table costs a frame a launch, no more. */
    if (name_count <= NAMES * 3 / 4 && !names[at].text) {
        names[at].text = strdup(name);
        names[at].hash = hash;
        names[at].id = id;
    }
    return id;
}

static void see(uint32_t device) {
    if (device < DEVICES) device_seen[device] = 1;
}

static void write_record(const void *record) {
    switch (*(const uint32_t *)record) {
    case KIND_CONCURRENT_KERNEL: {
        const kernel_record *k = record;
        struct {
            uint64_t start, end;
            uint32_t name, device, context, stream;
            int32_t grid[3], block[3];
            uint32_t shared, registers;
        } data = {k->start, k->end, name_id(k->name ? k->name : "?"), k->device_id, k->context_id, k->stream_id,
                  {k->grid[0], k->grid[1], k->grid[2]}, {k->block[0], k->block[1], k->block[2]},
                  (uint32_t)(k->static_shared + k->dynamic_shared), k->registers_per_thread};
        see(k->device_id);
        frame(FRAME_KERNEL, &data, sizeof data);
        break;
    }
    case KIND_MEMCPY:
    case KIND_MEMCPY2: {
        const copy_record *c = record;
        struct { uint64_t start, end, bytes; uint32_t device, stream, kind, pad; } data =
            {c->start, c->end, c->bytes, c->device_id, c->stream_id, c->copy_kind, 0};
        /* Copies between devices begin with the same fields; theirs name the source's device. */
        if (*(const uint32_t *)record == KIND_MEMCPY2) data.kind = 10;
        see(c->device_id);
        frame(FRAME_COPY, &data, sizeof data);
        break;
    }
    case KIND_MEMSET: {
        const set_record *s = record;
        struct { uint64_t start, end, bytes; uint32_t device, stream; } data =
            {s->start, s->end, s->bytes, s->device_id, s->stream_id};
        see(s->device_id);
        frame(FRAME_SET, &data, sizeof data);
        break;
    }
    default:
        break;
    }
}

static void requested(uint8_t **buffer, size_t *size, size_t *max_records) {
    uint8_t *memory = NULL;
    pthread_mutex_lock(&lock);
    if (pooled > 0) memory = pool[--pooled];
    pthread_mutex_unlock(&lock);
    void *fresh = NULL;
    if (!memory && posix_memalign(&fresh, 64, BUFFER_BYTES) == 0) memory = fresh;
    *buffer = memory;
    *size = memory ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)size;
    pthread_mutex_lock(&lock);
    void *record = NULL;
    while (buffer && valid > 0 && file >= 0 && cupti.next(buffer, valid, &record) == RESULT_SUCCESS) write_record(record);
    size_t lost = 0;
    if (file >= 0 && cupti.dropped && cupti.dropped(context, stream, &lost) == RESULT_SUCCESS && lost > 0) {
        uint64_t n = lost;
        frame(FRAME_DROPPED, &n, sizeof n);
    }
    drain();
    if (buffer && pooled < POOL) {
        pool[pooled++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(buffer);
}

/* The bus of each device that was used: numbers of devices differ between processes. */
static void write_devices(void) {
    static int (*bus)(char *, int, int);
    static int looked;
    if (!looked) {
        looked = 1;
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (driver) *(void **)&bus = dlsym(driver, "cuDeviceGetPCIBusId");
    }
    for (int d = 0; bus && d < DEVICES; d++) {
        char text[64];
        if (!device_seen[d] || device_written[d] || bus(text, sizeof text, d) != 0) continue;
        device_written[d] = 1;
        pthread_mutex_lock(&lock);
        text_frame(FRAME_DEVICE, (uint64_t)d, 1, text);
        drain();
        pthread_mutex_unlock(&lock);
    }
}

static void *flusher(void *unused) {
    (void)unused;
    for (;;) {
        struct timespec pause = {0, FLUSH_MS * 1000000};
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&flushing);
        if (!stopped) {
            cupti.flush(0);
            write_devices();
        }
        pthread_mutex_unlock(&flushing);
        if (stopped) return NULL;
    }
}

static void finish(void) {
    if (stopped) return;
    pthread_mutex_lock(&flushing);
    stopped = 1;
    if (file >= 0) {
        cupti.flush(FLUSH_FORCED);
        write_devices();
    }
    pthread_mutex_unlock(&flushing);
    pthread_mutex_lock(&lock);
    clock_frame(FRAME_END);
    drain();
    if (file >= 0) close(file);
    file = -1;
    pthread_mutex_unlock(&lock);
}

/* CUDA does not live on in a forked process: it writes nothing into its parent's file. */
static void forked(void) {
    stopped = 1;
    if (file >= 0) close(file);
    file = -1;
    out_used = 0;
}

static void on_api(void *user, uint32_t domain, uint32_t id, const void *data) {
    (void)user, (void)domain, (void)id, (void)data;
}

static int open_file(void) {
    const char *folder = getenv("GREENUP_ACTIVITY_DIR");
    if (!folder) return -1;
    for (int n = 0; n < 1000; n++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%ld-%d.activity", folder, (long)getpid(), n) >= (int)sizeof path) return -1;
        int f = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0600);
        if (f >= 0 || errno != EEXIST) return f;
    }
    return -1;
}

static void *open_cupti(void) {
    /* Two copies of CUPTI in one process disturb each other: take the one that is there. */
    static const char *const known[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    for (int k = 0; k < 3; k++) {
        void *loaded = dlopen(known[k], RTLD_LAZY | RTLD_NOLOAD);
        if (loaded) return loaded;
    }
    const char *path = getenv("GREENUP_CUPTI");
    if (path && *path) {
        void *named = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        if (!named) message("libcupti cannot be loaded: %s", dlerror());
        return named;
    }
    for (int k = 0; k < 3; k++) {
        void *found = dlopen(known[k], RTLD_LAZY | RTLD_LOCAL);
        if (found) return found;
    }
    message("libcupti cannot be loaded: %s", dlerror());
    return NULL;
}

static int check(uint32_t result, const char *call) {
    if (result == RESULT_SUCCESS) return 1;
    const char *text = "?";
    if (cupti.result_string) cupti.result_string(result, &text);
    if (result == RESULT_MULTIPLE_SUBSCRIBERS)
        message("another profiler uses CUPTI in this process (%s: %s)", call, text);
    else
        message("%s failed: %s (%u)", call, text, result);
    return 0;
}

static void start(void) {
    file = open_file();
    if (file < 0) return;
    static const char magic[8] = "GRNACT01";
    put(magic, sizeof magic);
    drain();
    void *library = open_cupti();
    if (!library) return;
    struct { void **to; const char *name; int needed; } symbols[] = {
        {(void **)&cupti.subscribe, "cuptiSubscribe", 1},
        {(void **)&cupti.register_callbacks, "cuptiActivityRegisterCallbacks", 1},
        {(void **)&cupti.enable, "cuptiActivityEnable", 1},
        {(void **)&cupti.flush, "cuptiActivityFlushAll", 1},
        {(void **)&cupti.next, "cuptiActivityGetNextRecord", 1},
        {(void **)&cupti.dropped, "cuptiActivityGetNumDroppedRecords", 0},
        {(void **)&cupti.timestamp, "cuptiGetTimestamp", 1},
        {(void **)&cupti.version, "cuptiGetVersion", 1},
        {(void **)&cupti.result_string, "cuptiGetResultString", 0},
    };
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        *symbols[k].to = dlsym(library, symbols[k].name);
        if (!*symbols[k].to && symbols[k].needed) {
            message("libcupti has no %s: it is too old", symbols[k].name);
            return;
        }
    }
    /* The subscription keeps a second tool from taking the records over unnoticed. */
    void *subscriber = NULL;
    if (!check(cupti.subscribe(&subscriber, on_api, NULL), "cuptiSubscribe")) return;
    if (!check(cupti.register_callbacks(requested, completed), "cuptiActivityRegisterCallbacks")) return;
    if (!check(cupti.enable(KIND_CONCURRENT_KERNEL), "cuptiActivityEnable(CONCURRENT_KERNEL)")) return;
    check(cupti.enable(KIND_MEMCPY), "cuptiActivityEnable(MEMCPY)");
    check(cupti.enable(KIND_MEMCPY2), "cuptiActivityEnable(MEMCPY2)");
    check(cupti.enable(KIND_MEMSET), "cuptiActivityEnable(MEMSET)");
    pthread_mutex_lock(&lock);
    clock_frame(FRAME_CLOCK);
    drain();
    pthread_mutex_unlock(&lock);
    pthread_atfork(NULL, NULL, forked);
    atexit(finish);
    pthread_t thread;
    if (pthread_create(&thread, NULL, flusher, NULL) == 0) pthread_detach(thread);
}

__attribute__((visibility("default"))) int InitializeInjection(void) {
    pthread_once(&once, start);
    return 1;
}
