#include <string.h>

#include "async.h"

#define SIGNATURE 0xb0a7000000000000ull
#define MOST_PENDING 0xfffffu
#define MOST_CLOCKS 256u

static uint64_t address_of(struct warp *w, const struct row *r, int lane) {
    uint64_t base = r->a == NONE ? 0 : r->wide & 2 ? u64_of(w, r->a)[lane] : u32_of(w, r->a)[lane];
    return r->wide & 2 || r->a == NONE ? base + (uint64_t)r->imm : (uint32_t)(base + (uint64_t)r->imm);
}

static bool place(struct warp *w, const struct row *r, uint64_t address, uint32_t space, int lane, struct span *span) {
    if (!span_of(w, r, address, 8, 8, space, lane, true, span)) return false;
    if (span->owner && (span->owner == w->block || r->flags & CLUSTER || space == GENERIC)) return true;
    fault(w, r, OUT_OF_BOUNDS, lane, span->region, (int64_t)span->offset, 8, true);
    return false;
}

static struct mbarrier *found(struct warp *w, const struct row *r, const struct span *span, int lane) {
    uint64_t bits, number = span->owner->mbarrier_at[span->offset / 8];
    memcpy(&bits, span->data + span->offset, 8);
    if (number == 0 || bits != (SIGNATURE | number)) {
        fault(w, r, MBARRIER_UNINITIALISED, lane, span->region, (int64_t)span->offset, 8, true);
        return NULL;
    }
    struct mbarrier *it = &span->owner->mbarriers[number - 1];
    check_after(w, r, span->region, span->offset, 8, lane, it->made);
    return it;
}

struct mbarrier *mbarrier_at(struct warp *w, const struct row *r, int lane, struct span *span) {
    return place(w, r, address_of(w, r, lane), r->space, lane, span) ? found(w, r, span, lane) : NULL;
}

struct mbarrier *mbarrier_of(
        struct warp *w, const struct row *r, uint64_t address, uint32_t space, int lane, struct block **owner) {
    struct span span;
    if (!place(w, r, address, space, lane, &span)) return NULL;
    *owner = span.owner;
    return found(w, r, &span, lane);
}

void mbarrier_touched(struct warp *w, const struct row *r, struct span *span, int lane, bool writes, bool atomic) {
    if (!w->block->launch->check || !span->region->written) return;
    uint64_t offsets[LANES] = {0};
    offsets[lane] = span->offset;
    check_access(w, r, span->region, offsets, 1u << lane, 8, writes, atomic);
    if (span->valid) memset(span->valid + span->offset, 1, 8);
}

static int init(struct warp *w, const struct row *r, struct span *span, int lane) {
    struct block *owner = span->owner;
    uint32_t count = u32_of(w, r->b)[lane];
    if (count == 0 || count > MOST_PENDING) {
        fault(w, r, MBARRIER_OVERRUN, lane, span->region, (int64_t)span->offset, count, true);
        return 1;
    }
    uint64_t number = owner->mbarrier_at[span->offset / 8];
    if (number == 0) {
        if (owner->mbarrier_count == UINT16_MAX) {
            fault(w, r, LIMIT, lane, span->region, (int64_t)span->offset, 8, true);
            return 1;
        }
        if (owner->mbarrier_count == owner->mbarrier_room) {
            struct mbarrier *more = grown(owner->mbarriers, &owner->mbarrier_room, 16, sizeof *more);
            if (!more) {
                out_of_memory(w->block->launch);
                return 1;
            }
            owner->mbarriers = more;
        }
        uint32_t words = w->block->launch->clock_words;
        bool clocked = words && owner->mbarrier_count < MOST_CLOCKS;
        uint32_t *clock = clocked ? allocate(2 * (size_t)words, 4) : NULL;
        if (clocked && !clock) {
            out_of_memory(w->block->launch);
            return 1;
        }
        owner->mbarriers[owner->mbarrier_count] = (struct mbarrier){.offset = (uint32_t)span->offset, .clock = clock};
        number = ++owner->mbarrier_count;
        owner->mbarrier_at[span->offset / 8] = (uint16_t)number;
    }
    mbarrier_touched(w, r, span, lane, true, false);
    struct mbarrier *it = &owner->mbarriers[number - 1];
    it->expected = it->pending = count;
    it->made = check_written(w, span->region, span->offset);
    it->phase = 0;
    it->bytes = 0;
    it->line = r->line;
    it->completed++;
    uint64_t bits = SIGNATURE | number;
    memcpy(span->data + span->offset, &bits, 8);
    return 0;
}

static void phase_ends(struct block *owner, struct mbarrier *it) {
    if (it->pending || it->bytes) return;
    it->phase++;
    it->completed++;
    it->pending = it->expected;
    it->cycle = it->pending_cycle;
    if (it->clock) {
        uint32_t words = owner->launch->clock_words;
        clock_join(it->clock + words, it->clock, words);
        memset(it->clock, 0, 4 * (size_t)words);
    }
}

static int overrun(
        struct warp *w, const struct row *r, struct block *owner, struct mbarrier *it, uint32_t count, int lane) {
    fault(w, r, MBARRIER_OVERRUN, lane, &owner->shared_region, it->offset, count, true);
    return 1;
}

int mbarrier_completes(
        struct warp *w, const struct row *r, struct block *owner, struct mbarrier *it, int64_t bytes, int lane) {
    it->bytes -= bytes;
    if (it->bytes > MOST_PENDING || it->bytes < -(int64_t)MOST_PENDING) return overrun(w, r, owner, it, 0, lane);
    owner->cluster->changes++;
    if (bytes > 0) phase_ends(owner, it);
    return 0;
}

static int arrive(struct warp *w, const struct row *r, struct block *owner, struct mbarrier *it, uint32_t count,
        bool drop, int lane) {
    if (count == 0 || count > it->pending) return overrun(w, r, owner, it, count, lane);
    if (r->count & NO_COMPLETE && count == it->pending && it->bytes == 0) return overrun(w, r, owner, it, count, lane);
    if (w->block->launch->profile && w->timing.clock > it->pending_cycle) it->pending_cycle = w->timing.clock;
    if (!(r->count & RELAXED)) clock_publish(w, it->clock);
    it->pending -= count;
    if (drop) it->expected -= count;
    owner->cluster->changes++;
    phase_ends(owner, it);
    return 0;
}

int mbarrier_expects_one(struct warp *w, const struct row *r, int lane) {
    struct span span;
    struct mbarrier *it = mbarrier_at(w, r, lane, &span);
    if (!it) return 1;
    if (it->pending == MOST_PENDING) return overrun(w, r, span.owner, it, 1, lane);
    it->pending++;
    return 0;
}

int mbarrier_late_arrives(struct warp *w, const struct row *r, uint64_t address, int lane) {
    struct row plain = *r;
    struct block *owner;
    plain.count = 0;
    struct mbarrier *it = mbarrier_of(w, &plain, address, SHARED, lane, &owner);
    if (!it) return 1;
    return arrive(w, &plain, owner, it, 1, false, lane);
}

int mbarrier_run(struct warp *w, const struct row *r, uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        struct span span;
        if (!place(w, r, address_of(w, r, lane), r->space, lane, &span)) return 1;
        if (r->size == MBARRIER_INIT) {
            if (init(w, r, &span, lane)) return 1;
            continue;
        }
        struct mbarrier *it = found(w, r, &span, lane);
        if (!it) return 1;
        if (r->size == MBARRIER_INVAL) {
            memset(span.data + span.offset, 0, 8);
            continue;
        }
        mbarrier_touched(w, r, &span, lane, true, true);
        uint64_t before = (uint64_t)it->phase << 20 | it->pending;
        int64_t bytes = r->c == NONE ? 0 : (int64_t)u32_of(w, r->c)[lane];
        uint32_t count = r->b == NONE ? 1 : u32_of(w, r->b)[lane];
        if (r->size == MBARRIER_EXPECT || r->count & EXPECTS) {
            if (mbarrier_completes(w, r, span.owner, it, -bytes, lane)) return 1;
        }
        if (r->size == MBARRIER_COMPLETE && mbarrier_completes(w, r, span.owner, it, bytes, lane)) return 1;
        if (r->size == MBARRIER_ARRIVE || r->size == MBARRIER_DROP)
            if (arrive(w, r, span.owner, it, count, r->size == MBARRIER_DROP, lane)) return 1;
        if (r->d != NONE) u64_of(w, r->d)[lane] = before;
    }
    return 0;
}
