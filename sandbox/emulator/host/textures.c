/* Numbers that the device knows. */
#include "arrays.h"

struct resource {
    int kind; /* 0 array, 1 mipmapped, 2 linear, 3 pitched */
    union {
        struct array *array;
        struct {
            void *pointer;
            struct channels format;
            size_t size;
        } linear;
        struct {
            void *pointer;
            struct channels format;
            size_t width, height, pitch;
        } pitched;
        int room[32];
    } is;
};
struct texture_settings {
    int modes[3], filter, read, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int rest[6];
};

static error create(uint64_t *object, const struct resource *from, const struct texture_settings *how) {
    struct texture it = {.depth = 1, .height = 1};
    struct channels format;
    if (from->kind == 0) {
        const struct array *array = from->is.array;
        format = array->format;
        it.address = (uint64_t)array->address;
        it.pitch = array->pitch;
        it.width = (uint32_t)array->width;
        it.height = (uint32_t)array_rows(array);
        it.depth = (uint32_t)array_slices(array);
    } else if (from->kind == 2) {
        format = from->is.linear.format;
        it.address = (uint64_t)from->is.linear.pointer;
        it.width = (uint32_t)from->is.linear.size; /* below: elements */
    } else if (from->kind == 3) {
        format = from->is.pitched.format;
        it.address = (uint64_t)from->is.pitched.pointer;
        it.pitch = from->is.pitched.pitch;
        it.width = (uint32_t)from->is.pitched.width;
        it.height = (uint32_t)from->is.pitched.height;
    } else return failed(NOT_SUPPORTED);
    const int bits[4] = {format.x, format.y, format.z, format.w};
    for (int i = 0; i < 4; i++) {
        it.bits[i] = (uint32_t)bits[i];
        it.element += (uint32_t)bits[i] / 8;
    }
    if (!it.element) return failed(INVALID_VALUE);
    if (from->kind == 2) it.width /= it.element;
    it.kind = (uint32_t)format.kind;
    if (how) {
        for (int i = 0; i < 3; i++) it.modes[i] = (uint32_t)how->modes[i];
        memcpy(it.border, how->border, sizeof it.border);
        it.linear = how->filter == 1;
        it.fractions = how->read == 1;
        it.normalized = how->normalized != 0;
        if (how->srgb) return failed(NOT_SUPPORTED);
    }
    *object = 0;
    return ask(TEXTURE, &it, sizeof it, NULL, 0, object, sizeof *object);
}
API error cudaCreateTextureObject(
        uint64_t *object, const struct resource *from, const struct texture_settings *how, const void *view) {
    return view ? failed(NOT_SUPPORTED) : create(object, from, how);
}
API error cudaDestroyTextureObject(uint64_t object) {
    (void)object;
    return lost;
}
API error cudaCreateSurfaceObject(uint64_t *object, const struct resource *from) {
    return from->kind ? failed(INVALID_VALUE) : create(object, from, NULL);
}
API error cudaDestroySurfaceObject(uint64_t object) {
    (void)object;
    return lost;
}
