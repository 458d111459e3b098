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
/* Finds the memory of a whole matrix at an address, with its ``lines``, ``bytes``, ``stride`` and ``size``, if every
 * access to it is an ordinary one. False: nothing happened, and some access may be at fault. */
bool tile_of(struct warp *, const struct row *, uint64_t address, bool writes, struct tile *);
/* Notes for the block that a warp's lanes store in this row. */
void memory_stored(struct warp *, uint32_t mask);
/* An operand's addresses, ``offset`` added; ``bit``: of the row's ``wide``. */
const uint64_t *row_addresses(
        struct warp *, const struct row *, uint32_t operand, int bit, int64_t offset, uint64_t into[LANES]);
#endif
