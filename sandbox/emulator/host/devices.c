#include <stdio.h>

#include "runtime.h"

error cudaDeviceSynchronize(void);
#define CLOCK_KHZ 1410000
#define MEMORY ((size_t)1 << 30)

static bool is_gpu(int number) { return number >= 0 && (uint32_t)number < gpus; }

API error cudaDeviceGetAttribute(int *value, int attribute, int device) {
    static const int known[][2] = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535},
            {8, (int)MOST_STATIC_SHARED}, {9, 65536}, {10, 32}, {11, 2147483647}, {12, 65536}, {13, CLOCK_KHZ},
            {14, 512}, {15, 1}, {16, MULTIPROCESSORS}, {19, 1}, {21, 131072}, {22, 131072}, {23, 65536}, {24, 16384},
            {25, 16384}, {26, 16384}, {31, 1}, {36, 1215000}, {37, 5120}, {38, 50 << 20}, {39, 2048}, {40, 3}, {41, 1},
            {75, 9}, {76, 0}, {78, 1}, {79, 1}, {80, 1}, {81, SHARED_ALL}, {82, 65536}, {83, 1}, {89, 1}, {90, 1},
            {95, 1}, {97, (int)MOST_SHARED}, {106, 32}, {108, 30 << 20}, {111, 1024}, {115, 1}, {120, 1}};
    if (!is_gpu(device)) return failed(INVALID_DEVICE);
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i][0] == attribute) *value = known[i][1];
    return OK;
}

/* Of CUDA 13. */
API error cudaGetDeviceProperties(uint8_t *into, int device) {
    static const struct {
        uint32_t offset;
        int value;
    } words[] = {{304, 65536}, {308, 32}, {320, 1024}, {324, 1024}, {328, 1024}, {332, 64}, {336, 2147483647},
            {340, 65535}, {344, 65535}, {360, 9}, {364, 0}, {384, MULTIPROCESSORS}, {392, 1}, {396, 131072},
            {404, 131072}, {408, 65536}, {440, 16384}, {444, 16384}, {448, 16384}, {560, 1}, {584, 3}, {588, 1},
            {592, 5120}, {596, 50 << 20}, {600, 30 << 20}, {604, 2048}, {608, 1}, {612, 1}, {616, 1}, {632, 65536},
            {636, 1}, {656, 1}, {660, 1}, {668, 1}, {688, 32}, {720, 1}, {748, 1}};
    static const struct {
        uint32_t offset;
        size_t value;
    } longs[] = {{288, MEMORY}, {296, (int)MOST_STATIC_SHARED}, {312, 2147483647}, {352, 65536}, {368, 512}, {376, 32},
            {552, 512}, {624, SHARED_ALL}, {672, (int)MOST_SHARED}, {696, 1024}};
    if (!is_gpu(device)) return failed(INVALID_DEVICE);
    memset(into, 0, 1008);
    snprintf((char *)into, 256, "Emulated GPU");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) memcpy(into + words[i].offset, &words[i].value, 4);
    for (size_t i = 0; i < sizeof longs / sizeof longs[0]; i++) memcpy(into + longs[i].offset, &longs[i].value, 8);
    return OK;
}
API error cudaChooseDevice(int *device, const void *wanted) {
    (void)wanted;
    *device = 0;
    return OK;
}
API error cudaInitDevice(int device, unsigned a, unsigned b) {
    (void)a;
    (void)b;
    return is_gpu(device) ? OK : failed(INVALID_DEVICE);
}
API error cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    return OK;
}
API error cudaGetDeviceFlags(unsigned *flags) {
    *flags = 0;
    return OK;
}
API error cudaSetValidDevices(int *devices, int count) {
    (void)devices;
    (void)count;
    return OK;
}
API error cudaDeviceGetPCIBusId(char *into, int size, int device) {
    if (!is_gpu(device)) return failed(INVALID_DEVICE);
    snprintf(into, (size_t)size, "0000:%02x:00.0", (unsigned)device);
    return OK;
}
API error cudaDeviceGetByPCIBusId(int *device, const char *id) {
    unsigned number = 0;
    if (!id || sscanf(id, "%*x:%x", &number) != 1 || number >= gpus) return failed(INVALID_VALUE);
    *device = (int)number;
    return OK;
}
API error cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (!is_gpu(device) || !is_gpu(peer)) return failed(INVALID_DEVICE);
    *can = device != peer;
    return OK;
}
API error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    if (flags) return failed(INVALID_VALUE);
    if (!is_gpu(peer) || (uint32_t)peer == gpu) return failed(INVALID_DEVICE);
    if (peers[gpu] >> peer & 1) return failed(PEER_ENABLED);
    peers[gpu] |= 1u << peer;
    return OK;
}
API error cudaDeviceDisablePeerAccess(int peer) {
    if (!is_gpu(peer) || (uint32_t)peer == gpu) return failed(INVALID_DEVICE);
    if (!(peers[gpu] >> peer & 1)) return failed(PEER_NOT_ENABLED);
    peers[gpu] &= ~(1u << peer);
    return OK;
}
API error cudaDeviceGetP2PAttribute(int *value, int attribute, int a, int b) {
    if (!is_gpu(a) || !is_gpu(b) || a == b) return failed(INVALID_DEVICE);
    *value = attribute == 2 || attribute == 3; /* access, and atomics */
    return OK;
}
API error cudaDeviceGetCacheConfig(int *value) {
    *value = 0;
    return OK;
}
API error cudaDeviceSetCacheConfig(int value) {
    (void)value;
    return OK;
}
API error cudaProfilerStart(void) { return OK; }
API error cudaProfilerStop(void) { return OK; }
API error cudaDeviceSetSharedMemConfig(int value) {
    (void)value;
    return OK;
}
API error cudaDeviceGetSharedMemConfig(int *value) {
    *value = 1;
    return OK;
}
API error cudaFuncSetSharedMemConfig(const void *host, int value) {
    (void)host;
    (void)value;
    return OK;
}
API error cudaCtxResetPersistingL2Cache(void) { return OK; }

/* Stack, printf, malloc's heap, and unused ones. */
static size_t limits[8] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0};
API error cudaDeviceSetLimit(int limit, size_t value) {
    if (limit < 0 || limit > 6) return failed(INVALID_VALUE);
    uint64_t heap = value;
    if (limit == 2) {
        error code = ask(HEAP, &heap, sizeof heap, NULL, 0, NULL, 0);
        if (code) return code;
    }
    limits[limit] = value;
    return OK;
}
API error cudaDeviceGetLimit(size_t *value, int limit) {
    if (limit < 0 || limit > 6) return failed(INVALID_VALUE);
    *value = limits[limit];
    return OK;
}

struct pointer_attributes {
    int type, device;
    void *on_device, *on_host;
    long rest[8];
};
API error cudaPointerGetAttributes(struct pointer_attributes *into, const void *pointer) {
    bool managed = managed_is(pointer), device = on_device(pointer);
    *into = (struct pointer_attributes){managed ? 3
                    : device                    ? 2
                                                : 0,
            device ? (int)gpu_of(pointer) : -2, device ? (void *)pointer : NULL,
            managed || !device ? (void *)pointer : NULL, {0}};
    return OK;
}
/* Kernels reach registered memory at another address (cudaDevAttrCanUseHostPointerForRegisteredMem is 0), made on
 * request. */
struct registered {
    char *pointer;
    size_t size;
    unsigned flags;
    void *on_device;
    struct registered *next;
};
static struct registered *registered;
static struct registered **registered_at(const void *pointer) {
    struct registered **at = &registered;
    while (*at && (size_t)((const char *)pointer - (*at)->pointer) >= (*at)->size) at = &(*at)->next;
    return at;
}
API error cudaHostRegister(void *pointer, size_t size, unsigned flags) {
    if (!pointer || !size) return failed(INVALID_VALUE);
    if (*registered_at(pointer)) return failed(ALREADY_REGISTERED);
    struct registered *made = malloc(sizeof *made);
    if (!made) return failed(NO_MEMORY);
    *made = (struct registered){pointer, size, flags, NULL, registered};
    registered = made;
    return OK;
}
API error cudaHostUnregister(void *pointer) {
    struct registered **at = registered_at(pointer), *it = *at;
    if (!it || it->pointer != pointer) return failed(NOT_REGISTERED);
    if (it->on_device) {
        cudaDeviceSynchronize();
        managed_unregister(pointer);
    }
    *at = it->next;
    free(it);
    return lost;
}
API error cudaHostGetDevicePointer(void **into, void *pointer, unsigned flags) {
    struct registered *it = *registered_at(pointer);
    CALLED;
    (void)flags;
    *into = managed_is(pointer) ? pointer : NULL;
    if (*into) return OK;
    if (!it) return failed(INVALID_VALUE);
    error code = it->on_device ? OK : managed_register(it->pointer, it->size, &it->on_device);
    if (code == OK) *into = (char *)it->on_device + ((char *)pointer - it->pointer);
    return code;
}
API error cudaHostGetFlags(unsigned *flags, void *pointer) {
    struct registered *it = *registered_at(pointer);
    *flags = managed_is(pointer) ? 2 : it ? it->flags : 0;
    return managed_is(pointer) || it ? OK : failed(INVALID_VALUE);
}
struct location { int type, id; };
API error cudaMemPrefetchAsync(const void *pointer, size_t size, struct location where, unsigned flags, void *stream) {
    (void)size;
    (void)where;
    (void)flags;
    (void)stream;
    return managed_is(pointer) ? lost : failed(INVALID_VALUE);
}
API error cudaMemAdvise(const void *pointer, size_t size, int advice, struct location where) {
    (void)size;
    (void)advice;
    (void)where;
    return managed_is(pointer) ? lost : failed(INVALID_VALUE);
}
API error cudaStreamAttachMemAsync(void *stream, void *pointer, size_t size, unsigned flags) {
    (void)stream;
    (void)size;
    (void)flags;
    return managed_is(pointer) ? lost : failed(INVALID_VALUE);
}

/* One pool, which keeps nothing. */
static int pool;
API error cudaDeviceGetDefaultMemPool(void **into, int device) {
    *into = &pool;
    return is_gpu(device) ? OK : failed(INVALID_DEVICE);
}
API error cudaDeviceGetMemPool(void **into, int device) { return cudaDeviceGetDefaultMemPool(into, device); }
API error cudaDeviceSetMemPool(int device, void *it) {
    (void)it;
    return is_gpu(device) ? OK : failed(INVALID_DEVICE);
}
API error cudaMemPoolCreate(void **into, const void *properties) {
    (void)properties;
    *into = &pool;
    return OK;
}
API error cudaMemPoolDestroy(void *it) {
    (void)it;
    return OK;
}
API error cudaMemPoolSetAttribute(void *it, int attribute, void *value) {
    (void)it;
    (void)attribute;
    (void)value;
    return OK;
}
API error cudaMemPoolGetAttribute(void *it, int attribute, void *value) {
    (void)it;
    memset(value, 0, attribute < 4 ? 4 : 8);
    return OK;
}
API error cudaMemPoolTrimTo(void *it, size_t least) {
    (void)it;
    (void)least;
    return OK;
}
API error cudaMemPoolSetAccess(void *it, const void *access, size_t count) {
    (void)it;
    (void)access;
    (void)count;
    return OK;
}
API error cudaMalloc(void **pointer, size_t size);
API error cudaMallocFromPoolAsync(void **pointer, size_t size, void *it, void *stream) {
    (void)it;
    (void)stream;
    return cudaMalloc(pointer, size);
}

API error cudaLaunchHostFunc(void *stream, void (*function)(void *), void *argument) {
    return call_on(stream, function, argument);
}
API error cudaLaunchHostFunc_ptsz(void *stream, void (*function)(void *), void *argument) {
    return call_on(ON_THREADS(stream), function, argument);
}
struct callback {
    void (*function)(void *, error, void *);
    void *stream, *argument;
};
static void call_back(void *given) {
    struct callback *it = given;
    it->function(it->stream, lost, it->argument);
    free(it);
}
API error cudaStreamAddCallback(void *stream, void (*function)(void *, error, void *), void *argument, unsigned flags) {
    struct callback *made = malloc(sizeof *made);
    (void)flags;
    if (!made) return failed(NO_MEMORY);
    *made = (struct callback){function, stream, argument};
    return call_on(stream, call_back, made);
}
API error cudaStreamGetPriority(void *stream, int *priority) {
    (void)stream;
    *priority = 0;
    return OK;
}
API error cudaStreamGetFlags(void *stream, unsigned *flags) {
    *flags = (uint64_t)stream > 2 && ((struct stream *)stream)->apart;
    return OK;
}
API error cudaStreamGetId(void *stream, unsigned long long *id) {
    *id = (uint64_t)stream;
    return OK;
}
API error cudaStreamGetDevice(void *stream, int *device) {
    *device = (int)stream_named(stream)->gpu;
    return OK;
}
API error cudaStreamSetAttribute(void *stream, int attribute, const void *value) {
    (void)stream;
    (void)attribute;
    (void)value;
    return OK;
}
API error cudaStreamCopyAttributes(void *to, void *from) {
    (void)to;
    (void)from;
    return OK;
}
