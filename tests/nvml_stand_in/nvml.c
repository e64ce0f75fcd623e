/* A stand-in for libnvidia-ml.so.1 with two GPUs, for tests on machines without one. GPU 1 tells neither power nor
 * throttle reasons. NVML_STAND_IN=not-loaded makes nvmlInit fail as it does without a loaded driver. */
#include <stdlib.h>
#include <string.h>

typedef int nvmlReturn_t;
enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9 };
typedef struct { int index; } device;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
static device devices[2] = {{0}, {1}};

nvmlReturn_t nvmlInitWithFlags(unsigned flags) {
    const char *mode = getenv("NVML_STAND_IN");
    return mode && !strcmp(mode, "not-loaded") ? DRIVER_NOT_LOADED : SUCCESS;
}
nvmlReturn_t nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(nvmlReturn_t code) {
    return code == NOT_SUPPORTED ? "Not Supported" : code == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, device **out) {
    if (index > 1) return INVALID_ARGUMENT;
    *out = &devices[index];
    return SUCCESS;
}
nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned size) { strncpy(text, "999.1", size); return SUCCESS; }
nvmlReturn_t nvmlDeviceGetName(device *d, char *text, unsigned size) {
    strncpy(text, d->index ? "Stand-in B" : "Stand-in A", size);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUUID(device *d, char *text, unsigned size) {
    strncpy(text, d->index ? "GPU-b" : "GPU-a", size);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUtilizationRates(device *d, utilization *out) {
    out->gpu = 40 + d->index; out->memory = 20;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo(device *d, memory *out) {
    out->total = 1000000000ULL; out->used = 250000000ULL; out->free = out->total - out->used;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(device *d, unsigned *milliwatts) {
    *milliwatts = 123400;
    return d->index ? NOT_SUPPORTED : SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTemperature(device *d, int sensor, unsigned *celsius) { *celsius = 55; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetClockInfo(device *d, int kind, unsigned *mhz) {
    *mhz = kind == 1 ? 1700 : 9500;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(device *d, unsigned long long *mask) {
    *mask = 4;
    return d->index ? NOT_SUPPORTED : SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(device *d, unsigned long long *mask) {
    return nvmlDeviceGetCurrentClocksEventReasons(d, mask);
}
nvmlReturn_t nvmlDeviceGetPcieThroughput(device *d, int counter, unsigned *value) {
    *value = counter ? 2000 : 1000;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(device *d, unsigned *count, void *infos) {
    *count = 0;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(device *d, unsigned *count, void *infos) {
    return nvmlDeviceGetComputeRunningProcesses_v3(d, count, infos);
}
