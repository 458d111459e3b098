/* Finds endless launches.
 *
 * A warp that returns to an earlier state with unchanged memory repeats forever. And so does a host thread with
 * hundreds of millions of instructions in which no memory changes, no new memory is used, and no thread ends. */
#include <string.h>

#include "engine.h"

#define SUSPECT 2000000ull /* watching costs time */
#define MOST_STALE 400000000ull

static uint64_t mixed(uint64_t hash, const void *data, size_t size) {
    const uint8_t *at = data;
    uint64_t word;
    for (; size >= 8; at += 8, size -= 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    for (; size; at++, size--) hash = (hash ^ *at) * 0x100000001b3ull;
    return hash;
}

void progress_repeats(struct warp *w) {
    struct launch *launch = w->block->launch;
    if (!w->block->worker->watched) return;
    uint64_t advances = atomic_load(&launch->advances);
    if (w->moved || !w->looped || advances != w->past_advances) {
        w->repeats = false;
        w->states = 0;
        w->until_next = 1;
        w->past_advances = advances;
        if (w->moved || !w->looped) return;
    }
    uint64_t state = mixed(w->pc ^ (uint64_t)w->active << 32, w->file, (size_t)launch->kernel->units * UNIT);
    state = mixed(state, w->groups, w->group_count * sizeof *w->groups);
    state = mixed(state, w->call_depth, sizeof w->call_depth);
    if (w->states && state == w->past_state) {
        if (!w->repeats) w->until_next = w->states;
        w->repeats = true;
        w->states = 1;
        return;
    }
    if (w->repeats && w->states < w->until_next) {
        w->states++;
        return;
    }
    /* an unwatched thread changed what it reads */
    if (w->repeats) {
        w->repeats = false;
        w->states = 0;
        w->until_next = 1;
    }
    if (w->states++ == 0 || w->states == w->until_next) {
        w->past_state = state;
        w->until_next *= 2;
        w->states = 1;
    }
}

void progress_touches(
        struct warp *w, const struct region *region, const uint64_t *offsets, uint32_t mask, uint32_t size) {
    const struct launch *launch = w->block->launch;
    uint32_t granule = launch->kernel->granule,
             first = region->owner ? region->owner->first_segment : launch->first_segment;
    for (; mask && !w->block->worker->advanced; mask &= mask - 1) {
        uint64_t offset = offsets[__builtin_ctz(mask)];
        for (uint64_t g = offset / granule; g <= (offset + size - 1) / granule; g++)
            w->block->worker->advanced |= region->written[g] >> 7 < first && region->read[g] >> 7 < first;
    }
}

void progress_stores(struct warp *w, const struct row *r, const uint8_t *data, const uint64_t *offsets, uint32_t mask) {
    const uint32_t ins[4] = {r->d, r->b, r->c, r->e};
    uint32_t step = r->size == 8 || (r->wide & 1) ? 8 : 4;
    bool differs = false;
    if (w->block->worker->advanced && w->moved) return;
    for (uint32_t k = 0; k < r->count && k < 4; k++)
        for (uint32_t left = mask; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            differs |= memcmp(data + offsets[i] + k * r->size, (const uint8_t *)unit_of(w, ins[k]) + step * i,
                               r->size) != 0;
        }
    w->block->worker->advanced |= differs;
    w->moved |= differs;
}

bool progress_goes_on(struct worker *worker, struct block *block, const struct warp *ran, bool looks) {
    struct launch *launch = worker->launch;
    uint64_t now = worker->instructions, advances = atomic_load(&launch->advances);
    /* slow work is no loop */
    if (!looks || !worker->watched) worker->stale += now - worker->counted;
    worker->counted = now;
    bool goes_on = worker->watched && worker->advanced;
    if (goes_on || block->done) advances = atomic_fetch_add(&launch->advances, 1) + 1;
    if (advances != worker->advances) worker->stale = 0;
    worker->watched = worker->stale > SUSPECT;
    worker->advanced = false;
    worker->advances = advances;
    if (!worker->watched || worker->stale < MOST_STALE || !ran) return true;
    struct row row = {
            .line = launch->kernel->rows[ran->pc < launch->kernel->row_count ? ran->pc : 0].line, .guard = NONE};
    uint32_t lanes = ran->active ? ran->active : ran->existing & ~ran->exited;
    fault((struct warp *)ran, &row, ENDLESS, __builtin_ctz(lanes ? lanes : ran->existing), NULL, (int64_t)MOST_STALE, 0,
            false);
    return false;
}
