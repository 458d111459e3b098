/* CUDA's driver: entry points, and tensor maps, whose bytes engine/bulk.c reads. */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define MAP_SIGNATURE 0x70616d726f736e74ull
#define DIMENSIONS 5
enum { OK = 0, INVALID_VALUE = 1, NOT_FOUND = 500 };

struct tensor_map {
    uint64_t signature, address, strides[4];
    uint32_t sizes[DIMENSIONS]; /* less one */
    uint16_t box[DIMENSIONS];
    uint8_t steps[DIMENSIONS], type, rank /* less one */, swizzle, fill, rest[39];
};
static const uint8_t TYPE_BYTES[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4}; /* by CUtensorMapDataType */
static int is_float(int type) { return type >= 6; }

API int cuTensorMapEncodeTiled(void *into, int type, uint32_t rank, void *address, const uint64_t *sizes,
        const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion,
        int fill) {
    (void)promotion;
    _Static_assert(sizeof(struct tensor_map) == 128, "as CUtensorMap");
    if (!into || (uint64_t)into % 64 || type < 0 || type >= (int)sizeof TYPE_BYTES || rank < 1 || rank > DIMENSIONS ||
            (uint64_t)address % 16 || !sizes || !box || !steps || (rank > 1 && !strides))
        return INVALID_VALUE;
    if (interleave != 0 || swizzle < 0 || swizzle > 3 || fill < 0 || fill > 1 || (fill && !is_float(type)))
        return INVALID_VALUE;
    struct tensor_map map = {.signature = MAP_SIGNATURE,
            .address = (uint64_t)address,
            .type = (uint8_t)type,
            .rank = (uint8_t)(rank - 1),
            .swizzle = (uint8_t)swizzle,
            .fill = (uint8_t)fill};
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] < 1 || sizes[i] > 1ull << 32 || box[i] < 1 || box[i] > 256 || steps[i] < 1 || steps[i] > 8)
            return INVALID_VALUE;
        if (i && (strides[i - 1] % 16 || strides[i - 1] >= 1ull << 40)) return INVALID_VALUE;
        map.sizes[i] = (uint32_t)(sizes[i] - 1);
        map.box[i] = (uint16_t)box[i];
        map.steps[i] = (uint8_t)steps[i];
        if (i) map.strides[i - 1] = strides[i - 1];
    }
    uint32_t inner = box[0] * TYPE_BYTES[type];
    if (inner % 16 || (swizzle && inner > 16u << swizzle)) return INVALID_VALUE;
    memcpy(into, &map, sizeof map);
    return OK;
}
API int cuTensorMapReplaceAddress(void *map, void *address) {
    if (!map || (uint64_t)address % 16) return INVALID_VALUE;
    memcpy((uint8_t *)map + 8, &address, 8);
    return OK;
}
API int cuInit(unsigned flags) { return flags ? INVALID_VALUE : OK; }
API int cuDriverGetVersion(int *version) {
    *version = 13000;
    return OK;
}
API int cuGetErrorString(int code, const char **text) {
    *text = code == OK ? "no error" : code == INVALID_VALUE ? "invalid argument" : "error";
    return OK;
}
API int cuGetErrorName(int code, const char **text) {
    *text = code == OK ? "CUDA_SUCCESS" : code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_UNKNOWN";
    return OK;
}

static int entry_point(const char *name, void **found, int *status) {
    *found = strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0 ? dlsym(RTLD_DEFAULT, name) : NULL;
    if (status) *status = *found == NULL; /* cudaDriverEntryPointQueryResult */
    return *found ? OK : status ? OK : NOT_FOUND;
}
API int cudaGetDriverEntryPoint(const char *name, void **found, unsigned long long flags, int *status) {
    (void)flags;
    return entry_point(name, found, status);
}
API int cudaGetDriverEntryPoint_ptsz(const char *name, void **found, unsigned long long flags, int *status) {
    (void)flags;
    return entry_point(name, found, status);
}
API int cudaGetDriverEntryPointByVersion(
        const char *name, void **found, unsigned version, unsigned long long flags, int *status) {
    (void)version;
    (void)flags;
    return entry_point(name, found, status);
}
API int cudaGetDriverEntryPointByVersion_ptsz(
        const char *name, void **found, unsigned version, unsigned long long flags, int *status) {
    (void)version;
    (void)flags;
    return entry_point(name, found, status);
}
