#ifndef MEMORY_H
#define MEMORY_H
#include "engine.h"

/* The lanes of ``mask`` in the first one's memory, and their offsets. */
struct place {
    struct region *region;
    uint8_t *data, *valid;
    uint64_t offsets[LANES];
    uint32_t mask;
};
/* False: a fault was recorded. */
bool place_of(struct warp *, const struct row *, const uint64_t *address, uint32_t mask, int space, uint32_t size,
        bool writes, struct place *);
/* With ``offset``. ``bit``: of ``wide``. */
const uint64_t *row_addresses(
        struct warp *, const struct row *, uint32_t operand, int bit, int64_t offset, uint64_t into[LANES]);
#endif
