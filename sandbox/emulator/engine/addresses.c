#include "engine.h"

struct block *cluster_block(struct warp *w, uint64_t address) {
    struct cluster *cluster = w->block->cluster;
    uint64_t rank = address >> 24;
    return rank == 0 ? w->block : rank <= cluster->size ? cluster->blocks[rank - 1] : NULL;
}

bool span_of(struct warp *w, const struct row *r, uint64_t address, uint64_t size, uint64_t align, uint32_t space,
        int lane, bool writes, struct span *span) {
    struct row at = *r;
    at.space = (uint8_t)space;
    uint32_t named = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    *span = (struct span){0};
    if (space != SHARED && address >= SHARED_BASE && address < LOCAL_BASE && space == GENERIC) {
        space = SHARED;
        at.space = SHARED;
        address &= 0xffffffff;
    }
    if (space == SHARED) {
        struct block *owner = cluster_block(w, address);
        uint64_t offset = address & 0xffffff;
        struct region *region = owner ? &owner->shared_region : &w->block->shared_region;
        if (!owner || offset > region->size || region->size - offset < size) {
            fault(w, &at, OUT_OF_BOUNDS, lane, region, (int64_t)offset, named, writes);
            return false;
        }
        if (offset % align) {
            fault(w, &at, MISALIGNED, lane, region, (int64_t)offset, (uint32_t)align, writes);
            return false;
        }
        if (owner->done) report(w, &at, CLUSTER_EXITED, lane, region, (int64_t)offset, named, writes, NULL);
        *span = (struct span){region, owner, region->data, owner->shared_valid, offset};
        return true;
    }
    struct region *region = address < SHARED_BASE ? region_of(w->block->launch->engine, address) : NULL;
    if (!region || region->freed) {
        fault(w, &at, region ? USE_AFTER_FREE : OUT_OF_BOUNDS, lane, region,
                region ? (int64_t)(address - region->address) : (int64_t)address, named, writes);
        return false;
    }
    uint64_t offset = address - region->address;
    if (region->size - offset < size) {
        fault(w, &at, OUT_OF_BOUNDS, lane, region, (int64_t)offset, named, writes);
        return false;
    }
    if (address % align) {
        fault(w, &at, MISALIGNED, lane, region, (int64_t)offset, (uint32_t)align, writes);
        return false;
    }
    if (writes && region->constant) {
        fault(w, &at, READ_ONLY, lane, region, (int64_t)offset, named, true);
        return false;
    }
    if (!region_reached(w->block->launch->engine, region)) {
        fault(w, &at, NO_PEER_ACCESS, lane, region, (int64_t)offset, named, writes);
        return false;
    }
    if (region->lazy && size) region_fill(w->block->launch->engine, region, offset, size);
    *span = (struct span){region, NULL, region->data, region->valid, offset};
    return true;
}
