/* Operands that lower puts into the pool, at word r->imm, because a row is too small. */
#ifndef DESCRIBED_H
#define DESCRIBED_H
#include <stdint.h>

#include "names.h"

#define DIMENSIONS 5
enum bulk_way { BULK_WAYS(NUMBERED) };
struct operand {
    uint32_t unit, wide;
    int32_t at;
};
/* rank: 0 without a tensor. */
struct bulk {
    uint32_t way, rank, multicast, how;
    struct operand to, from, mbarrier, size, ranks, coordinates[DIMENSIONS];
};
/* ``type``: of a fetch, 0 float, 1 unsigned, 2 signed; of a surface, bytes. */
struct lookup { uint32_t operation, axes, layered, by_floats, type, beyond, count, object, outs[4], places[4]; };
enum lookup_operation { LOOKUPS(NUMBERED) };
#endif
