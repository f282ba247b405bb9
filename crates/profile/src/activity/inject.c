/* Loaded into a program by the CUDA driver (CUDA_INJECTION64_PATH): writes when each kernel, copy and memset began and ended.
 *
 * Environment: GREENUP_ACTIVITY_DIR, the folder for one file a process; GREENUP_CUPTI, the path of libcupti. The program never
 * fails because of this library: what goes wrong becomes a message in the file.
 *
 * A file is a sequence of frames in this machine's byte order: two words of 32 bits, the frame's type and the length of what
 * follows, a multiple of 8. `file.rs` reads them. */
#define _GNU_SOURCE
#include "cupti.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
static char file_name[4096];
/* The file that was opened: the program may close its descriptor and give the number to a file of its own. */
static dev_t file_device;
static ino_t file_inode;
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

static int is_own(int fd) {
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_dev == file_device && s.st_ino == file_inode;
}

/* Moves a descriptor to a high number, which loops that close descriptors seldom reach. */
static int raised(int fd) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    unsigned long least = limit.rlim_cur < 4196 ? limit.rlim_cur : 4196;
    int up = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, least > 103 ? (int)least - 100 : 3);
    if (up < 0) return fd;
    close(fd);
    return up;
}

/* Before each use: where the program closed the descriptor, the same file by its name. */
static void keep_file(void) {
    if (file < 0 || is_own(file)) return;
    file = raised(open(file_name, O_WRONLY | O_CLOEXEC | O_APPEND | O_NOFOLLOW));
    if (file >= 0 && !is_own(file)) {
        close(file);
        file = -1;
    }
}

static void close_file(void) {
    if (is_own(file)) close(file);
    file = -1;
}

static void drain(void) {
    size_t done = 0;
    if (out_used > 0) keep_file();
    while (file >= 0 && done < out_used) {
        ssize_t n = write(file, out + done, out_used - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            /* A full disk: the file ends with a whole frame or is cut, and its reader says so. */
            close_file();
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

/* The state of a thread of this process: R, S, Z and so on; 0 if there is none. */
static char state_of(const char *thread) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
    int f = open(path, O_RDONLY | O_CLOEXEC);
    if (f < 0) return 0;
    ssize_t n = read(f, text, sizeof text - 1);
    close(f);
    const char *end = n > 0 ? strrchr(text, ')') : NULL;
    return end && end[1] ? end[2] : 0;
}

/* Whether the main thread left by pthread_exit and only threads called greenup-… live, of which this is the first: nobody else
 * ends the process then. */
static int is_alone(void) {
    char main_thread[32], name[64];
    snprintf(main_thread, sizeof main_thread, "%ld", (long)getpid());
    if (state_of(main_thread) != 'Z') return 0;
    DIR *all = opendir("/proc/self/task");
    if (!all) return 0;
    int alone = 1;
    long first = 0;
    for (struct dirent *e; alone && (e = readdir(all));) {
        char state = e->d_name[0] == '.' ? 'Z' : state_of(e->d_name), text[32] = "";
        if (state == 'Z' || state == 'X' || state == 0) continue;
        snprintf(name, sizeof name, "/proc/self/task/%.20s/comm", e->d_name);
        int f = open(name, O_RDONLY | O_CLOEXEC);
        alone = f >= 0 && read(f, text, sizeof text - 1) > 0 && strncmp(text, "greenup-", 8) == 0;
        if (f >= 0) close(f);
        long id = atol(e->d_name);
        if (first == 0 || id < first) first = id;
    }
    closedir(all);
    return alone && first == syscall(SYS_gettid);
}

static void *flusher(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "greenup-flush");
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
        /* As the last thread of a program does. */
        if (is_alone()) exit(0);
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
    close_file();
    pthread_mutex_unlock(&lock);
}

/* CUDA does not live on in a forked process: it writes nothing into its parent's file. */
static void forked(void) {
    stopped = 1;
    close_file();
    out_used = 0;
}

static void on_api(void *user, uint32_t domain, uint32_t id, const void *data) {
    (void)user, (void)domain, (void)id, (void)data;
}

static int open_file(void) {
    const char *folder = getenv("GREENUP_ACTIVITY_DIR");
    if (!folder) return -1;
    for (int n = 0; n < 1000; n++) {
        int length = snprintf(file_name, sizeof file_name, "%s/%ld-%d.activity", folder, (long)getpid(), n);
        if (length >= (int)sizeof file_name) return -1;
        int f = raised(open(file_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0600));
        struct stat s;
        if (f >= 0 && fstat(f, &s) == 0) {
            file_device = s.st_dev;
            file_inode = s.st_ino;
            return f;
        }
        if (errno != EEXIST) return -1;
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
