/* A stand-in for libnvidia-ml with GPUS GPUs (one, unless compiled with another number) of 100 W, 200 W and so on,
 * counted from the highest place on the bus down: the
 * first of two sits at 02:00.0, the second at 01:00.0. Its energy counter ticks every 20 ms, its
 * instant power wavers by 1 W, memory draws 12 W. Only what the sensors ask for. */
#ifndef GPUS
#define GPUS 1
#endif
/* Codes with which the energy counter, the average power and the fields answer. */
#ifndef ENERGY
#define ENERGY 0
#endif
#ifndef POWER
#define POWER 0
#endif
#ifndef FIELDS
#define FIELDS 0
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is set is appended to the file FAKE_NVML_LOG, a line each; FAKE_NVML_DENY refuses. */
static int set(const char *what, unsigned value) {
    const char *log = getenv("FAKE_NVML_LOG");
    if (getenv("FAKE_NVML_DENY")) return 4;
    if (log) {
        FILE *f = fopen(log, "a");
        fprintf(f, "%s %u\n", what, value);
        fclose(f);
    }
    return 0;
}

typedef struct {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    unsigned valueType;
    int nvmlReturn;
    union { double d; unsigned ui; unsigned long long ull; } value;
} field_t;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static unsigned waver(void *h) { return 100000 * (unsigned)(size_t)h + 1000 * ((long)(now() * 50) & 1); }

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int rc) { return rc == 3 ? "Not Supported" : "fake"; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { strncpy(s, "580.00", n); return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = GPUS; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) { *h = (void *)(size_t)(i + 1); return i < GPUS ? 0 : 2; }
int nvmlDeviceGetIndex(void *h, unsigned *i) { *i = (size_t)h - 1; return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **h) {
    unsigned domain, bus;
    if (sscanf(id, "%x:%x:00.0", &domain, &bus) != 2) return 2;
    *h = (void *)(size_t)(GPUS + 1 - bus);
    return domain == 0 && bus >= 1 && bus <= GPUS ? 0 : 6;
}
typedef struct {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} pci_t;
int nvmlDeviceGetPciInfo_v3(void *h, pci_t *p) {
    memset(p, 0, sizeof *p);
    p->bus = GPUS + 1 - (size_t)h;
    snprintf(p->busIdLegacy, 16, "0000:%02X:00.0", p->bus);
    snprintf(p->busId, 32, "00000000:%02X:00.0", p->bus);
    return 0;
}
int nvmlDeviceGetName(void *h, char *s, unsigned n) { strncpy(s, "Fake GPU", n); return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *mj) {
    *mj = (unsigned long long)(now() / 0.02) * 2000 * (size_t)h;
    return ENERGY;
}
int nvmlDeviceGetPowerUsage(void *h, unsigned *mw) { *mw = waver(h); return POWER; }
int nvmlDeviceGetFieldValues(void *h, int n, field_t *f) {
    for (int i = 0; i < n; i++) {
        f[i].valueType = 1;
        f[i].value.ull = 0;
        f[i].value.ui = f[i].scopeId == 2 ? 12000 + waver(h) % 7000 : waver(h);
        f[i].nvmlReturn = f[i].fieldId == 185 || f[i].fieldId == 186 ? FIELDS : 3;
    }
    return 0;
}
int nvmlDeviceGetClockInfo(void *h, unsigned type, unsigned *mhz) { *mhz = type == 1 ? 1500 : 3200; return 0; }
int nvmlDeviceGetTemperature(void *h, unsigned sensor, unsigned *c) { *c = 61; return 0; }
int nvmlDeviceGetEnforcedPowerLimit(void *h, unsigned *mw) { *mw = 700000; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *h, unsigned long long *r) { *r = 4; return 0; }
int nvmlDeviceSetGpuLockedClocks(void *h, unsigned lo, unsigned hi) { return hi > 2000 ? 2 : set("sm", hi); }
int nvmlDeviceResetGpuLockedClocks(void *h) { return set("sm", 0); }
int nvmlDeviceSetMemoryLockedClocks(void *h, unsigned lo, unsigned hi) { return set("memory", hi); }
int nvmlDeviceResetMemoryLockedClocks(void *h) { return set("memory", 0); }
int nvmlDeviceSetPowerManagementLimit(void *h, unsigned mw) { return set("power", mw / 1000); }
/* The limit last set, or the 700 W it starts with. */
int nvmlDeviceGetPowerManagementLimit(void *h, unsigned *mw) {
    const char *log = getenv("FAKE_NVML_LOG");
    FILE *f = log ? fopen(log, "r") : 0;
    char what[32];
    unsigned value;
    *mw = 700000;
    while (f && fscanf(f, "%31s %u", what, &value) == 2)
        if (!strcmp(what, "power")) *mw = value * 1000;
    if (f) fclose(f);
    return 0;
}
