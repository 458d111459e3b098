/* sm_90's asynchronous instructions: waits for mbarriers and clusters; others have their files. */
#include <stdlib.h>
#include <string.h>

#include "async.h"

/* Rounds in which a block only polled. */
#define MOST_STALLS 20000u

static uint32_t marks_of(uint32_t shared) { return (shared / 8 + 2) / 2 * 4; }

size_t async_bytes(const struct launch *launch, uint32_t shared) {
    if (!launch->kernel->async) return 0;
    uint32_t warps = (launch->threads[0] * launch->threads[1] * launch->threads[2] + LANES - 1) / LANES;
    return marks_of(shared) + 4 * (size_t)launch->clock_words * (warps + 16);
}

void async_block_new(struct block *block, uint8_t *memory) {
    struct launch *launch = block->launch;
    if (!launch->kernel->async) return;
    block->mbarrier_at = (uint16_t *)memory;
    if (!launch->clock_words) return;
    uint32_t *clocks = (uint32_t *)(memory + marks_of(launch->shared_bytes));
    block->barrier_clocks = clocks;
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].seen = clocks + (size_t)(16 + i) * launch->clock_words;
}

void async_block_begins(struct block *block) {
    struct launch *launch = block->launch;
    block->first_segment = atomic_load(&launch->engine->next_segment);
    block->stalls = block->changes = 0;
    memset(block->visitors, 0, sizeof block->visitors);
    if (!launch->kernel->async) return;
    bulk_forget(block);
    memset(block->mbarrier_at, 0, marks_of(launch->shared_bytes));
    for (uint32_t i = 0; i < block->mbarrier_count; i++) free(block->mbarriers[i].clock);
    block->mbarrier_count = 0;
    if (block->barrier_clocks) memset(block->barrier_clocks, 0, 16 * 4 * (size_t)launch->clock_words);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        w->slot = clock_slot(w, THREADS_SLOT);
        w->epoch = w->late_arrivals = w->bulk_groups = w->product_groups = w->product_count = 0;
        w->timing.product_ready = 0;
        w->copying = false;
        memset(w->cluster_arrived, 0xff, sizeof w->cluster_arrived);
        if (w->seen) memset(w->seen, 0, 4 * (size_t)launch->clock_words);
    }
}

void async_block_delete(struct block *block) {
    bulk_forget(block);
    for (uint32_t i = 0; i < block->mbarrier_count; i++) free(block->mbarriers[i].clock);
    free(block->mbarriers);
    free(block->transfers);
}

static int waits(struct warp *w, const struct row *r, uint32_t mask) {
    uint32_t done = 0;
    w->wait_line = r->line;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        struct span span;
        struct mbarrier *it = mbarrier_at(w, r, lane, &span);
        if (!it) return ASYNC_STOPPED;
        struct block *owner = span.owner;
        uint32_t number = (uint32_t)(it - owner->mbarriers);
        for (uint32_t i = 0; i < owner->warp_count; i++)
            if (owner->warps[i].late_arrivals && late_arrives_at(&owner->warps[i], it->offset)) return ASYNC_STOPPED;
        if (bulk_arrives(w, owner, number)) return ASYNC_STOPPED;
        bool over = r->count & PARITY ? ((it->phase & 1) != (u32_of(w, r->b)[lane] & 1))
                                      : it->phase != (uint32_t)(u64_of(w, r->b)[lane] >> 20);
        w->wait_bytes = it->pending ? 0 : it->bytes;
        if (!over) continue;
        done |= 1u << lane;
        mbarrier_touched(w, r, &span, lane, false, true);
        if (w->block->launch->profile && it->cycle > w->timing.clock) w->timing.clock = it->cycle;
        if (r->count & RELAXED) continue;
        clock_learn(w, it->clock ? it->clock + w->block->launch->clock_words : NULL);
        clock_reaches(w, clock_mbarrier_slot(owner, number), it->completed);
    }
    /* It may time out, but only once the whole block waits. */
    if (!done && r->size == MBARRIER_TRY && w->block->stalls == 0) return ASYNC_BLOCKED;
    if (!done) w->failed = 1;
    uint32_t *out = u32_of(w, r->d);
    *out = (*out & ~mask) | done;
    return ASYNC_DONE;
}

static void cluster_phase_ends(struct block *block) {
    struct cluster *cluster = block->cluster;
    if (cluster->arrived == 0 || cluster->arrived + cluster->exited < cluster->size * block->thread_count) return;
    cluster->arrived = 0;
    cluster->phase++;
    cluster->changes++;
    cluster->cycle = cluster->pending_cycle;
    if (!cluster->pending) return;
    clock_join(cluster->clock, cluster->pending, block->launch->clock_words);
    memset(cluster->pending, 0, 4 * (size_t)block->launch->clock_words);
}

static void cluster_arrives(struct warp *w, const struct row *r, uint32_t mask) {
    struct cluster *cluster = w->block->cluster;
    if (w->block->launch->check) check_release(w);
    if (!(r->count & RELAXED)) clock_publish(w, cluster->pending);
    if (w->timing.clock > cluster->pending_cycle) cluster->pending_cycle = w->timing.clock;
    for (int i = 0; i < LANES; i++)
        if (mask >> i & 1) w->cluster_arrived[i] = cluster->phase;
    cluster->arrived += (uint32_t)__builtin_popcount(mask);
    cluster->changes++;
    cluster_phase_ends(w->block);
}

static int cluster_waits(struct warp *w, const struct row *r, uint32_t mask) {
    struct cluster *cluster = w->block->cluster;
    w->wait_line = r->line;
    w->wait_bytes = 0;
    for (int i = 0; i < LANES; i++)
        if (mask >> i & 1 && w->cluster_arrived[i] == cluster->phase) return ASYNC_BLOCKED;
    clock_learn(w, cluster->clock);
    if (w->block->launch->check) check_acquire(w);
    if (w->block->launch->profile && cluster->cycle > w->timing.clock) w->timing.clock = cluster->cycle;
    return ASYNC_DONE;
}

int async_exits(struct warp *w, const struct row *r, uint32_t mask) {
    if (!w->block->launch->kernel->async) return 0;
    if (bulk_exits(w, r, mask)) return 1;
    if (w->seen && w->block->exited + (uint32_t)__builtin_popcount(mask) == w->block->thread_count)
        check_visitors(w, r);
    struct cluster *cluster = w->block->cluster;
    /* a thread that arrived and exits counts once */
    for (int i = 0; i < LANES; i++)
        if (mask >> i & 1 && w->cluster_arrived[i] == cluster->phase) cluster->arrived--;
    cluster->exited += (uint32_t)__builtin_popcount(mask);
    cluster->changes++;
    cluster_phase_ends(w->block);
    return 0;
}

static void map_rank(struct warp *w, const struct row *r, uint32_t mask) {
    uint64_t room[LANES];
    const uint64_t *address = wide_of(w, r->a, r->wide & 2, room);
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t from = address[lane] + (uint64_t)r->imm, base = r->space == GENERIC ? SHARED_BASE : 0;
        uint32_t rank = r->b == NONE ? 0 : u32_of(w, r->b)[lane];
        if (r->size == RANK_OF) {
            struct block *owner = cluster_block(w, (from - base) & 0xffffffff);
            u32_of(w, r->d)[lane] = owner ? owner->rank : 0;
            continue;
        }
        /* an invalid rank gives an invalid address */
        uint64_t to = base + ((uint64_t)(rank < MOST_CLUSTER ? rank + 1 : 255) << 24) + ((from - base) & 0xffffff);
        if (r->wide & 1) u64_of(w, r->d)[lane] = to;
        else u32_of(w, r->d)[lane] = (uint32_t)to;
    }
}

bool async_stuck(struct block *block) {
    struct cluster *cluster = block->cluster;
    if (cluster->changes != block->changes) {
        block->changes = cluster->changes;
        block->stalls = 0;
        return false;
    }
    block->stalls++;
    for (uint32_t i = 0; i < cluster->size; i++) {
        struct block *it = cluster->blocks[i];
        if (!it->done && it->stalls < (it->polls ? MOST_STALLS : 2)) return false;
    }
    return true;
}

void async_deadlock(struct block *block, uint32_t line) {
    struct row row = {.line = line, .guard = NONE, .spare = NONE};
    struct warp *first = NULL;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        if (w->exited == w->existing) continue;
        if (!first) first = w;
        if (!w->blocked && !w->failed) continue;
        first = w;
        row.line = w->wait_line;
        break;
    }
    bool bytes = (first->blocked || first->failed) && first->wait_bytes;
    fault(first, &row, bytes ? MBARRIER_BYTES : DEADLOCK, __builtin_ctz(first->existing & ~first->exited), NULL,
            bytes ? first->wait_bytes : 0, 0, false);
}

int async_run(struct warp *w, const struct row *r, uint32_t mask) {
    if (w->any_undefined && r->d != NONE) w->undefined[r->d] &= ~mask;
    switch (r->size) {
    case MBARRIER_INIT:
    case MBARRIER_INVAL:
    case MBARRIER_ARRIVE:
    case MBARRIER_DROP:
    case MBARRIER_EXPECT:
    case MBARRIER_COMPLETE: return mbarrier_run(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    case MBARRIER_TEST:
    case MBARRIER_TRY: return waits(w, r, mask);
    case COPIES_ARRIVE: return copies_arrive(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    case CLUSTER_ARRIVE: cluster_arrives(w, r, mask); return ASYNC_DONE;
    case CLUSTER_WAIT: return cluster_waits(w, r, mask);
    case MAP_RANK:
    case RANK_OF: map_rank(w, r, mask); return ASYNC_DONE;
    case PROXY_FENCE: clock_fence(w); return ASYNC_DONE;
    case BULK_COPY: return bulk_copy(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    case BULK_COMMIT: return bulk_commit(w) ? ASYNC_STOPPED : ASYNC_DONE;
    case BULK_WAIT:
    case BULK_WAIT_READ:
        return bulk_wait(w, r, (uint32_t)r->imm, r->size == BULK_WAIT_READ) ? ASYNC_STOPPED : ASYNC_DONE;
    case PRODUCT_FENCE:
    case PRODUCT:
    case PRODUCT_COMMIT:
    case PRODUCT_WAIT: return product_run(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    }
    fault(w, r, BAD_CALL, __builtin_ctz(mask), NULL, 0, 0, false);
    return ASYNC_STOPPED;
}
