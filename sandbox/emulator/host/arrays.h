/* By copies.c. */
#ifndef ARRAYS_H
#define ARRAYS_H
#include "runtime.h"

enum { LAYERED = 1, WRITABLE = 2 };
struct extent { size_t width, height, depth; };
struct channels { int x, y, z, w, kind; }; /* bits; kind: 0 signed, 1 unsigned, 2 float */
struct array {
    void *address;
    struct channels format;
    size_t width, height, depth, element, pitch;
    unsigned flags;
};
static inline size_t array_rows(const struct array *it) { return it->height ? it->height : 1; }
static inline size_t array_slices(const struct array *it) { return it->depth ? it->depth : 1; }

error cudaMalloc(void **pointer, size_t size);
error cudaFree(void *pointer);
error cudaMemset(void *to, int value, size_t size);
#endif
