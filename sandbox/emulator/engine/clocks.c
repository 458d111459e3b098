/* Vector clocks of sm_90's warps, for the race check.
 *
 * An epoch for each of the cluster's warps, their bulk copies and products, and each mbarrier. A warp's epoch counts
 * its publications; who waits for one learns that clock. An access below the known epoch has ended. The second half is
 * what a proxy fence made known to asynchronous accesses. */
#include <string.h>

#include "async.h"

uint32_t clock_slot(const struct warp *w, uint32_t kind) {
    const struct block *block = w->block;
    return block->rank * block->launch->slots + kind * block->warp_count + w->number;
}

uint32_t clock_mbarrier_slot(const struct block *block, uint32_t number) {
    return block->rank * block->launch->slots + 4 * block->warp_count + number % TRACKED_MBARRIERS;
}

void clock_join(uint32_t *into, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

bool clock_knows(const struct warp *w, const struct segment *s) { return w->seen[s->slot] > s->epoch; }

bool clock_fenced(const struct warp *w, const struct segment *s) {
    return w->seen[w->block->launch->clock_words / 2 + s->slot] > s->epoch;
}

void clock_publish(struct warp *w, uint32_t *into) {
    if (!w->seen) return;
    if (into) {
        clock_join(into, w->seen, w->block->launch->clock_words);
        if (into[w->slot] < w->epoch + 1) into[w->slot] = w->epoch + 1;
    }
    w->epoch++;
    w->segment = 0;
}

void clock_learn(struct warp *w, const uint32_t *from) {
    w->warp_syncs++;
    w->segment = 0;
    if (!w->seen) return;
    if (from) {
        clock_join(w->seen, from, w->block->launch->clock_words);
        return;
    }
    struct cluster *cluster = w->block->cluster;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        for (uint32_t i = 0; i < cluster->blocks[rank]->warp_count; i++) {
            struct warp *other = &cluster->blocks[rank]->warps[i];
            if (other == w) continue;
            clock_join(w->seen, other->seen, w->block->launch->clock_words);
            clock_reaches(w, other->slot, other->epoch + 1);
        }
}

void clock_reaches(struct warp *w, uint32_t slot, uint32_t epoch) {
    if (w->seen && w->seen[slot] < epoch) w->seen[slot] = epoch;
}

void clock_fence(struct warp *w) {
    if (!w->seen) return;
    uint32_t half = w->block->launch->clock_words / 2;
    clock_join(w->seen + half, w->seen, half);
    w->seen[half + w->slot] = w->epoch + 1;
    w->epoch++;
    w->segment = 0;
}

void clock_arrives(struct warp *w, uint32_t barrier) {
    clock_publish(w, w->block->barrier_clocks + (size_t)barrier * w->block->launch->clock_words);
}

void clock_released(struct warp *w, uint32_t barrier) {
    clock_join(w->seen, w->block->barrier_clocks + (size_t)barrier * w->block->launch->clock_words,
            w->block->launch->clock_words);
}

void clock_release_ends(struct block *block, uint32_t barrier) {
    memset(block->barrier_clocks + (size_t)barrier * block->launch->clock_words, 0,
            4 * (size_t)block->launch->clock_words);
}
