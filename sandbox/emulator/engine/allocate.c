/* The only callers of malloc and its kin. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#ifdef ALLOCATIONS_FAIL
/* Tests make the n-th allocation and later ones fail; -1: none. */
static atomic_llong left = -1;
void engine_allocations(int64_t count) { atomic_store(&left, count); }
static bool fails(void) {
    return atomic_load(&left) >= 0 && (atomic_load(&left) == 0 || atomic_fetch_sub(&left, 1) <= 0);
}
#else
static bool fails(void) { return false; }
#endif

void *allocate(size_t count, size_t size) { return fails() ? NULL : calloc(count ? count : 1, size); }

void *allocate_aligned(size_t size) {
    void *made = NULL;
    if (fails() || posix_memalign(&made, UNIT, size)) return NULL;
    return memset(made, 0, size);
}

void *grown(void *array, uint32_t *room, uint32_t first, size_t size) {
    uint32_t more = *room ? 2 * *room : first;
    size_t bytes;
    if (fails() || more <= *room || __builtin_mul_overflow((size_t)more, size, &bytes)) return NULL;
    void *made = realloc(array, bytes);
    if (made) *room = more;
    return made;
}

void out_of_memory(struct launch *launch) { atomic_store(&launch->stop, NO_MEMORY); }
