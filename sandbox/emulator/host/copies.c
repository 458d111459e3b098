/* Copies of rectangles and boxes, memsets, and CUDA arrays.
 *
 * An array is device memory, row by row. */
#include "arrays.h"

struct position { size_t x, y, z; };
struct pitched {
    void *pointer;
    size_t pitch, width, height;
};
struct copy_3d {
    struct array *from_array;
    struct position from_at;
    struct pitched from;
    struct array *to_array;
    struct position to_at;
    struct pitched to;
    struct extent extent;
    int kind;
};

static error rows(void *stream, char *to, size_t to_pitch, size_t to_slice, const char *from, size_t from_pitch,
        size_t from_slice, size_t width, size_t height, size_t depth, int kind) {
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++) {
            error code = copy_on(
                    stream, to + z * to_slice + y * to_pitch, from + z * from_slice + y * from_pitch, width, kind);
            if (code) return code;
        }
    return lost;
}
static error waited(error code) { return waited_on(NULL, code, AS_POINTERS_SAY); }

API error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
        int kind, void *stream) {
    CALLED;
    if (width > to_pitch || width > from_pitch) return failed(12); /* cudaErrorInvalidPitchValue */
    return rows(stream, to, to_pitch, 0, from, from_pitch, 0, width, height, 1, kind);
}
API error cudaMemcpy2D(
        void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) {
    CALLED;
    return waited(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL));
}
API error cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream) {
    CALLED;
    for (size_t row = 0; row < height; row++) {
        error code = set_on(stream, (char *)to + row * pitch, value, width);
        if (code) return code;
    }
    return lost;
}
API error cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    CALLED;
    return cudaMemset2DAsync(to, pitch, value, width, height, NULL);
}
API error cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    CALLED;
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(pointer, *pitch * height);
}
API error cudaMalloc3D(struct pitched *into, struct extent size) {
    CALLED;
    *into = (struct pitched){NULL, 0, size.width, size.height};
    return cudaMallocPitch(&into->pointer, &into->pitch, size.width, size.height * size.depth);
}
API error cudaMemset3DAsync(struct pitched to, int value, struct extent size, void *stream) {
    CALLED;
    error code = OK;
    for (size_t z = 0; z < size.depth && code == OK; z++)
        code = cudaMemset2DAsync(
                (char *)to.pointer + z * to.pitch * to.height, to.pitch, value, size.width, size.height, stream);
    return code;
}
API error cudaMemset3D(struct pitched to, int value, struct extent size) {
    CALLED;
    return cudaMemset3DAsync(to, value, size, NULL);
}

/* Positions and widths are in an array's elements, else in bytes. */
API error cudaMemcpy3DAsync(const struct copy_3d *c, void *stream) {
    CALLED;
    size_t element = c->from_array ? c->from_array->element : c->to_array ? c->to_array->element : 1;
    const char *from = c->from_array ? (char *)c->from_array->address : c->from.pointer;
    char *to = c->to_array ? (char *)c->to_array->address : c->to.pointer;
    size_t from_pitch = c->from_array ? c->from_array->pitch : c->from.pitch,
           to_pitch = c->to_array ? c->to_array->pitch : c->to.pitch;
    size_t from_slice = from_pitch * (c->from_array ? array_rows(c->from_array) : c->from.height),
           to_slice = to_pitch * (c->to_array ? array_rows(c->to_array) : c->to.height);
    size_t width = c->extent.width * element;
    const struct array *limits[2] = {c->from_array, c->to_array};
    const struct position *at[2] = {&c->from_at, &c->to_at};
    for (int i = 0; i < 2; i++)
        if (limits[i] &&
                (at[i]->x + c->extent.width > limits[i]->width || at[i]->y + c->extent.height > array_rows(limits[i]) ||
                        at[i]->z + c->extent.depth > array_slices(limits[i])))
            return failed(INVALID_VALUE);
    from += c->from_at.z * from_slice + c->from_at.y * from_pitch + c->from_at.x * (c->from_array ? element : 1);
    to += c->to_at.z * to_slice + c->to_at.y * to_pitch + c->to_at.x * (c->to_array ? element : 1);
    return rows(stream, to, to_pitch, to_slice, from, from_pitch, from_slice, width, c->extent.height, c->extent.depth,
            c->kind);
}
API error cudaMemcpy3D(const struct copy_3d *c) {
    CALLED;
    return waited(cudaMemcpy3DAsync(c, NULL));
}
API error cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, void *stream) {
    CALLED;
    if (to_device < 0 || from_device < 0 || (uint32_t)to_device >= gpus || (uint32_t)from_device >= gpus)
        return failed(INVALID_DEVICE);
    if (gpu_of(to) != (uint32_t)to_device || gpu_of(from) != (uint32_t)from_device) return failed(INVALID_VALUE);
    return copy_on(stream, to, from, size, ON_DEVICE);
}
API error cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    CALLED;
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, size, NULL);
}

API struct channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct channels){x, y, z, w, kind};
}
API error cudaMalloc3DArray(struct array **into, const struct channels *format, struct extent size, unsigned flags) {
    CALLED;
    int bits = format->x + format->y + format->z + format->w;
    struct array *made = calloc(1, sizeof *made);
    *into = NULL;
    if (!made || !size.width || bits <= 0 || bits % 8 || flags & ~(LAYERED | WRITABLE)) {
        free(made);
        return failed(made ? INVALID_VALUE : NO_MEMORY);
    }
    *made = (struct array){.format = *format,
            .width = size.width,
            .height = size.height,
            .depth = size.depth,
            .element = (size_t)bits / 8,
            .flags = flags};
    made->pitch = (made->width * made->element + 31) / 32 * 32;
    error code = cudaMalloc(&made->address, made->pitch * array_rows(made) * array_slices(made));
    /* arbitrary, since filters read outside of the copied part */
    if (code == OK) code = cudaMemset(made->address, 0, made->pitch * array_rows(made) * array_slices(made));
    if (code) {
        free(made);
        return code;
    }
    *into = made;
    return OK;
}
API error cudaMallocArray(
        struct array **into, const struct channels *format, size_t width, size_t height, unsigned flags) {
    CALLED;
    return cudaMalloc3DArray(into, format, (struct extent){width, height, 0}, flags);
}
API error cudaFreeArray(struct array *array) {
    error code = array ? cudaFree(array->address) : lost;
    free(array);
    return code;
}
API error cudaArrayGetInfo(struct channels *format, struct extent *size, unsigned *flags, struct array *array) {
    if (format) *format = array->format;
    if (size) *size = (struct extent){array->width, array->height, array->depth};
    if (flags) *flags = array->flags;
    return OK;
}
API error cudaGetChannelDesc(struct channels *format, const struct array *array) {
    *format = array->format;
    return OK;
}
static char *place(const struct array *array, size_t x, size_t y, size_t width, size_t height) {
    return x + width > array->width * array->element || y + height > array_rows(array) * array_slices(array)
            ? NULL
            : (char *)array->address + y * array->pitch + x;
}
API error cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
        size_t height, int kind, void *stream) {
    CALLED;
    char *at = place(to, x, y, width, height);
    return at ? rows(stream, at, to->pitch, 0, from, pitch, 0, width, height, 1, kind) : failed(INVALID_VALUE);
}
API error cudaMemcpy2DToArray(
        struct array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind) {
    CALLED;
    return waited(cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL));
}
API error cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const struct array *from, size_t x, size_t y, size_t width,
        size_t height, int kind, void *stream) {
    CALLED;
    char *at = place(from, x, y, width, height);
    return at ? rows(stream, to, pitch, 0, at, from->pitch, 0, width, height, 1, kind) : failed(INVALID_VALUE);
}
API error cudaMemcpy2DFromArray(
        void *to, size_t pitch, const struct array *from, size_t x, size_t y, size_t width, size_t height, int kind) {
    CALLED;
    return waited(cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL));
}
/* Consecutive whole rows. */
API error cudaMemcpyToArray(struct array *to, size_t x, size_t y, const void *from, size_t size, int kind) {
    CALLED;
    size_t row = to->width * to->element;
    if (x == 0 && size % row == 0) return cudaMemcpy2DToArray(to, 0, y, from, row, row, size / row, kind);
    return cudaMemcpy2DToArray(to, x, y, from, size, size, 1, kind);
}
API error cudaMemcpyFromArray(void *to, const struct array *from, size_t x, size_t y, size_t size, int kind) {
    CALLED;
    size_t row = from->width * from->element;
    if (x == 0 && size % row == 0) return cudaMemcpy2DFromArray(to, row, from, 0, y, row, size / row, kind);
    return cudaMemcpy2DFromArray(to, size, from, x, y, size, 1, kind);
}
