/* malloc and its kin in WebAssembly. All state is in linear memory, so its copy is a snapshot; freed memory is reused,
 * so going back and forth does not grow it. */
#ifdef __wasm__
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 65536u
#define CLASSES 32

/* Before a caller's memory. ``begin``: the piece's, which may be aligned further. */
struct piece {
    uint32_t class, size;
    struct piece *begin, *next;
};

extern unsigned char __heap_base;
static uintptr_t top;
static struct piece *unused[CLASSES];

static void *taken(size_t size) {
    if (top == 0) top = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
    uintptr_t end = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE_BYTES;
    if (size > UINT32_MAX - PAGE_BYTES - top) return NULL;
    if (top + size > end) {
        size_t pages = (top + size - end + PAGE_BYTES - 1) / PAGE_BYTES;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) return NULL;
    }
    void *found = (void *)top;
    top += size;
    return found;
}

static uint32_t class_of(size_t size, size_t *whole) {
    uint32_t class = 5;
    while (class < CLASSES - 1 && (size_t)1 << class < size) class++;
    *whole = (size_t)1 << class;
    return class;
}

void *malloc(size_t size) {
    size_t whole, wanted = size + sizeof(struct piece);
    if (wanted < size || wanted > 1u << 30) return NULL;
    uint32_t class = class_of(wanted, &whole);
    struct piece *it = unused[class];
    if (it) unused[class] = it->next;
    else if (!(it = taken(whole))) return NULL;
    *it = (struct piece){class, (uint32_t)(whole - sizeof *it), it, NULL};
    return it + 1;
}

void free(void *given) {
    if (!given) return;
    struct piece *it = ((struct piece *)given - 1)->begin;
    it->next = unused[it->class];
    unused[it->class] = it;
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    void *made = malloc(bytes);
    return made ? memset(made, 0, bytes) : NULL;
}

void *realloc(void *given, size_t size) {
    if (!given) return malloc(size);
    size_t before = ((struct piece *)given - 1)->size;
    if (size <= before) return given;
    void *made = malloc(size);
    if (!made) return NULL;
    memcpy(made, given, before);
    free(given);
    return made;
}

int posix_memalign(void **into, size_t align, size_t size) {
    unsigned char *raw = malloc(size + align + sizeof(struct piece));
    if (!raw) return ENOMEM;
    struct piece *begin = (struct piece *)(void *)raw - 1;
    uintptr_t at = ((uintptr_t)raw + sizeof(struct piece) + align - 1) & ~(uintptr_t)(align - 1);
    ((struct piece *)at)[-1] = (struct piece){begin->class, (uint32_t)size, begin, NULL};
    *into = (void *)at;
    return 0;
}

void *aligned_alloc(size_t align, size_t size) {
    void *made;
    return posix_memalign(&made, align, size) ? NULL : made;
}
#endif
