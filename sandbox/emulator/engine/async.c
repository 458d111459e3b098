/* What threads of sm_90 agree by: mbarriers, and barriers of a cluster; and what each knows of the others' work.
 *
 * Of races: a clock has a number for each warp of the cluster, each warp's bulk copies and products, and each mbarrier.
 * A warp counts what it publishes; whoever waits for a publication learns how far others had come by then. An access of
 * a warp is known to have ended where its number is below what is known of the warp. A clock has a second half: what of
 * that a fence of proxies has made known to asynchronous accesses. */
#include <stdlib.h>
#include <string.h>

#include "async.h"

#define SIGNATURE 0xb0a7000000000000ull
#define MOST_PENDING 0xfffffu
#define MOST_CLOCKS 256u
/* Rounds in which a block did nothing but ask for what it waits for. */
#define MOST_STALLS 20000u

/* ---- clocks ---- */
uint32_t async_slot(const struct warp *w, uint32_t kind) {
    const struct block *block = w->block;
    return block->rank * block->launch->slots + kind * block->warp_count + w->number;
}
uint32_t async_mbarrier_slot(const struct block *block, uint32_t number) {
    return block->rank * block->launch->slots + 4 * block->warp_count + number % TRACKED_MBARRIERS;
}

static void join(uint32_t *into, const uint32_t *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

bool clock_knows(const struct warp *w, const struct segment *s) { return w->seen[s->slot] > s->epoch; }
bool clock_fenced(const struct warp *w, const struct segment *s) { return w->seen[w->block->launch->clock_words / 2 + s->slot] > s->epoch; }

void async_publish(struct warp *w, uint32_t *into) {
    if (!w->seen) return;
    if (into) {
        join(into, w->seen, w->block->launch->clock_words);
        if (into[w->slot] < w->epoch + 1) into[w->slot] = w->epoch + 1;
    }
    w->epoch++;
    w->segment = 0;
}

void async_learn(struct warp *w, const uint32_t *from) {
    w->warp_syncs++;
    w->segment = 0;
    if (!w->seen) return;
    if (from) { join(w->seen, from, w->block->launch->clock_words); return; }
    /* it is not known what it learns: all there is */
    struct cluster *cluster = w->block->cluster;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        for (uint32_t i = 0; i < cluster->blocks[rank]->warp_count; i++) {
            struct warp *other = &cluster->blocks[rank]->warps[i];
            if (other == w) continue;
            join(w->seen, other->seen, w->block->launch->clock_words);
            async_knows(w, other->slot, other->epoch + 1);
        }
}

void async_knows(struct warp *w, uint32_t slot, uint32_t epoch) {
    if (w->seen && w->seen[slot] < epoch) w->seen[slot] = epoch;
}

static void fence_proxies(struct warp *w) {
    if (!w->seen) return;
    uint32_t half = w->block->launch->clock_words / 2;
    join(w->seen + half, w->seen, half);
    w->seen[half + w->slot] = w->epoch + 1;
    w->epoch++;
    w->segment = 0;
}

/* A block's own barriers, whose numbers say who waits for whom. */
void async_arrives(struct warp *w, uint32_t barrier) { async_publish(w, w->block->barrier_clocks + (size_t)barrier * w->block->launch->clock_words); }
void async_released(struct warp *w, uint32_t barrier) { join(w->seen, w->block->barrier_clocks + (size_t)barrier * w->block->launch->clock_words, w->block->launch->clock_words); }
void async_release_ends(struct block *block, uint32_t barrier) { memset(block->barrier_clocks + (size_t)barrier * block->launch->clock_words, 0, 4 * (size_t)block->launch->clock_words); }

/* ---- a block's part ---- */
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
    for (uint32_t i = 0; i < block->warp_count; i++) block->warps[i].seen = clocks + (size_t)(16 + i) * launch->clock_words;
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
        w->slot = async_slot(w, THREADS_SLOT);
        w->epoch = w->late_arrivals = w->bulk_groups = w->product_groups = w->product_count = 0;
        w->product_ready = 0;
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

/* ---- addresses ---- */
struct block *cluster_block(struct warp *w, uint64_t address) {
    struct cluster *cluster = w->block->cluster;
    uint64_t rank = address >> 24;
    return rank == 0 ? w->block : rank <= cluster->size ? cluster->blocks[rank - 1] : NULL;
}

bool span_of(struct warp *w, const struct row *r, uint64_t address, uint64_t size, uint64_t align, uint32_t space, int lane, bool writes, struct span *span) {
    struct row at = *r;
    at.space = (uint8_t)space;
    uint32_t named = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    *span = (struct span){0};
    if (space != SHARED && address >= SHARED_BASE && address < LOCAL_BASE && space == GENERIC) { space = SHARED; at.space = SHARED; address &= 0xffffffff; }
    if (space == SHARED) {
        struct block *owner = cluster_block(w, address);
        uint64_t offset = address & 0xffffff;
        struct region *region = owner ? &owner->shared_region : &w->block->shared_region;
        if (!owner || offset > region->size || region->size - offset < size) { fault(w, &at, OUT_OF_BOUNDS, lane, region, (int64_t)offset, named, writes); return false; }
        if (offset % align) { fault(w, &at, MISALIGNED, lane, region, (int64_t)offset, (uint32_t)align, writes); return false; }
        if (owner->done) report(w, &at, CLUSTER_EXITED, lane, region, (int64_t)offset, named, writes, NULL);
        *span = (struct span){region, owner, region->data, owner->shared_valid, offset};
        return true;
    }
    struct region *region = address < SHARED_BASE ? region_of(w->block->launch->engine, address) : NULL;
    if (!region || region->freed) { fault(w, &at, region ? USE_AFTER_FREE : OUT_OF_BOUNDS, lane, region, region ? (int64_t)(address - region->address) : (int64_t)address, named, writes); return false; }
    uint64_t offset = address - region->address;
    if (region->size - offset < size) { fault(w, &at, OUT_OF_BOUNDS, lane, region, (int64_t)offset, named, writes); return false; }
    if (address % align) { fault(w, &at, MISALIGNED, lane, region, (int64_t)offset, (uint32_t)align, writes); return false; }
    if (writes && region->constant) { fault(w, &at, READ_ONLY, lane, region, (int64_t)offset, named, true); return false; }
    if (region->lazy && size) region_fill(w->block->launch->engine, region, offset, size);
    *span = (struct span){region, NULL, region->data, region->valid, offset};
    return true;
}

/* ---- mbarriers ---- */
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
    if (number == 0 || bits != (SIGNATURE | number)) { fault(w, r, MBARRIER_UNINITIALISED, lane, span->region, (int64_t)span->offset, 8, true); return NULL; }
    struct mbarrier *it = &span->owner->mbarriers[number - 1];
    check_after(w, r, span->region, span->offset, 8, lane, it->made);
    return it;
}

struct mbarrier *mbarrier_of(struct warp *w, const struct row *r, uint64_t address, uint32_t space, int lane, struct block **owner) {
    struct span span;
    if (!place(w, r, address, space, lane, &span)) return NULL;
    *owner = span.owner;
    return found(w, r, &span, lane);
}

static void touched(struct warp *w, const struct row *r, struct span *span, int lane, bool writes, bool atomic) {
    if (!w->block->launch->check || !span->region->written) return;
    uint64_t offsets[LANES] = {0};
    offsets[lane] = span->offset;
    check_access(w, r, span->region, offsets, 1u << lane, 8, writes, atomic);
    if (span->valid) memset(span->valid + span->offset, 1, 8);
}

static int init(struct warp *w, const struct row *r, struct span *span, int lane) {
    struct block *owner = span->owner;
    uint32_t count = u32_of(w, r->b)[lane];
    if (count == 0 || count > MOST_PENDING) { fault(w, r, MBARRIER_OVERRUN, lane, span->region, (int64_t)span->offset, count, true); return 1; }
    uint64_t number = owner->mbarrier_at[span->offset / 8];
    if (number == 0) {
        if (owner->mbarrier_count == UINT16_MAX) { fault(w, r, LIMIT, lane, span->region, (int64_t)span->offset, 8, true); return 1; }
        if (owner->mbarrier_count == owner->mbarrier_room) {
            struct mbarrier *more = grown(owner->mbarriers, &owner->mbarrier_room, 16, sizeof *more);
            if (!more) { out_of_memory(w->block->launch); return 1; }
            owner->mbarriers = more;
        }
        uint32_t words = w->block->launch->clock_words;
        bool clocked = words && owner->mbarrier_count < MOST_CLOCKS;
        uint32_t *clock = clocked ? allocate(2 * (size_t)words, 4) : NULL;
        if (clocked && !clock) { out_of_memory(w->block->launch); return 1; }
        owner->mbarriers[owner->mbarrier_count] = (struct mbarrier){.offset = (uint32_t)span->offset, .clock = clock};
        number = ++owner->mbarrier_count;
        owner->mbarrier_at[span->offset / 8] = (uint16_t)number;
    }
    touched(w, r, span, lane, true, false);
    struct mbarrier *it = &owner->mbarriers[number - 1];
    it->expected = it->pending = count;
    it->made = check_written(w, span->region, span->offset);
    it->phase = 0; it->bytes = 0; it->line = r->line; it->completed++;
    uint64_t bits = SIGNATURE | number;
    memcpy(span->data + span->offset, &bits, 8);
    return 0;
}

static void phase_ends(struct block *owner, struct mbarrier *it) {
    if (it->pending || it->bytes) return;
    it->phase++; it->completed++;
    it->pending = it->expected;
    it->cycle = it->pending_cycle;
    if (it->clock) {
        uint32_t words = owner->launch->clock_words;
        join(it->clock + words, it->clock, words);
        memset(it->clock, 0, 4 * (size_t)words);
    }
}

static int overrun(struct warp *w, const struct row *r, struct block *owner, struct mbarrier *it, uint32_t count, int lane) {
    fault(w, r, MBARRIER_OVERRUN, lane, &owner->shared_region, it->offset, count, true);
    return 1;
}

/* ``bytes``: less that it waits for; negative: more. */
int mbarrier_completes(struct warp *w, const struct row *r, struct block *owner, struct mbarrier *it, int64_t bytes, int lane) {
    it->bytes -= bytes;
    if (it->bytes > MOST_PENDING || it->bytes < -(int64_t)MOST_PENDING) return overrun(w, r, owner, it, 0, lane);
    owner->cluster->changes++;
    if (bytes > 0) phase_ends(owner, it);
    return 0;
}

static int arrive(struct warp *w, const struct row *r, struct block *owner, struct mbarrier *it, uint32_t count, bool drop, int lane) {
    if (count == 0 || count > it->pending) return overrun(w, r, owner, it, count, lane);
    if (r->count & NO_COMPLETE && count == it->pending && it->bytes == 0) return overrun(w, r, owner, it, count, lane);
    if (w->block->launch->profile && w->clock > it->pending_cycle) it->pending_cycle = w->clock;
    if (!(r->count & RELAXED)) async_publish(w, it->clock);
    it->pending -= count;
    if (drop) it->expected -= count;
    owner->cluster->changes++;
    phase_ends(owner, it);
    return 0;
}

/* It counts itself where others do not count it: the phase waits for it. */
static int copies_arrive(struct warp *w, const struct row *r, uint32_t mask) {
    for (uint32_t left = r->count == 1 ? mask : 0; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        struct block *owner;
        struct mbarrier *it = mbarrier_of(w, r, address_of(w, r, lane), r->space, lane, &owner);
        if (!it) return 1;
        if (it->pending == MOST_PENDING) return overrun(w, r, owner, it, 1, lane);
        it->pending++;
    }
    return memory_late_arrival(w, r, mask);
}

int mbarrier_late_arrives(struct warp *w, const struct row *r, uint64_t address, int lane) {
    struct row plain = *r;
    struct block *owner;
    plain.count = 0;
    struct mbarrier *it = mbarrier_of(w, &plain, address, SHARED, lane, &owner);
    if (!it) return 1;
    return arrive(w, &plain, owner, it, 1, false, lane);
}

static int all_arrive(struct warp *w, const struct row *r, uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        struct span span;
        if (!place(w, r, address_of(w, r, lane), r->space, lane, &span)) return 1;
        if (r->size == MBARRIER_INIT) { if (init(w, r, &span, lane)) return 1; continue; }
        struct mbarrier *it = found(w, r, &span, lane);
        if (!it) return 1;
        if (r->size == MBARRIER_INVAL) { memset(span.data + span.offset, 0, 8); continue; }
        touched(w, r, &span, lane, true, true);
        uint64_t before = (uint64_t)it->phase << 20 | it->pending;
        int64_t bytes = r->c == NONE ? 0 : (int64_t)u32_of(w, r->c)[lane];
        uint32_t count = r->b == NONE ? 1 : u32_of(w, r->b)[lane];
        if (r->size == MBARRIER_EXPECT || r->count & EXPECTS) { if (mbarrier_completes(w, r, span.owner, it, -bytes, lane)) return 1; }
        if (r->size == MBARRIER_COMPLETE && mbarrier_completes(w, r, span.owner, it, bytes, lane)) return 1;
        if (r->size == MBARRIER_ARRIVE || r->size == MBARRIER_DROP) if (arrive(w, r, span.owner, it, count, r->size == MBARRIER_DROP, lane)) return 1;
        if (r->d != NONE) u64_of(w, r->d)[lane] = before;
    }
    return 0;
}

static int waits(struct warp *w, const struct row *r, uint32_t mask) {
    uint32_t done = 0;
    w->wait_line = r->line;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        struct span span;
        if (!place(w, r, address_of(w, r, lane), r->space, lane, &span)) return ASYNC_STOPPED;
        struct mbarrier *it = found(w, r, &span, lane);
        if (!it) return ASYNC_STOPPED;
        struct block *owner = span.owner;
        uint32_t number = (uint32_t)(it - owner->mbarriers);
        for (uint32_t i = 0; i < owner->warp_count; i++)
            if (owner->warps[i].late_arrivals && memory_late_arrives_at(&owner->warps[i], it->offset)) return ASYNC_STOPPED;
        if (bulk_arrives(w, owner, number)) return ASYNC_STOPPED;
        bool over = r->count & PARITY ? ((it->phase & 1) != (u32_of(w, r->b)[lane] & 1)) : it->phase != (uint32_t)(u64_of(w, r->b)[lane] >> 20);
        w->wait_bytes = it->pending ? 0 : it->bytes;
        if (!over) continue;
        done |= 1u << lane;
        touched(w, r, &span, lane, false, true);
        if (w->block->launch->profile && it->cycle > w->clock) w->clock = it->cycle;
        if (r->count & RELAXED) continue;
        async_learn(w, it->clock ? it->clock + w->block->launch->clock_words : NULL);
        async_knows(w, async_mbarrier_slot(owner, number), it->completed);
    }
    /* It may give up, but does so only where all of the block wait. */
    if (!done && r->size == MBARRIER_TRY && w->block->stalls == 0) return ASYNC_BLOCKED;
    if (!done) w->failed = 1;
    uint32_t *out = u32_of(w, r->d);
    *out = (*out & ~mask) | done;
    return ASYNC_DONE;
}

/* ---- clusters ---- */
static void cluster_phase_ends(struct block *block) {
    struct cluster *cluster = block->cluster;
    if (cluster->arrived == 0 || cluster->arrived + cluster->exited < cluster->size * block->thread_count) return;
    cluster->arrived = 0;
    cluster->phase++;
    cluster->changes++;
    cluster->cycle = cluster->pending_cycle;
    if (!cluster->pending) return;
    join(cluster->clock, cluster->pending, block->launch->clock_words);
    memset(cluster->pending, 0, 4 * (size_t)block->launch->clock_words);
}

static void cluster_arrives(struct warp *w, const struct row *r, uint32_t mask) {
    struct cluster *cluster = w->block->cluster;
    if (w->block->launch->check) check_release(w);
    if (!(r->count & RELAXED)) async_publish(w, cluster->pending);
    if (w->clock > cluster->pending_cycle) cluster->pending_cycle = w->clock;
    for (int i = 0; i < LANES; i++) if (mask >> i & 1) w->cluster_arrived[i] = cluster->phase;
    cluster->arrived += (uint32_t)__builtin_popcount(mask);
    cluster->changes++;
    cluster_phase_ends(w->block);
}

static int cluster_waits(struct warp *w, const struct row *r, uint32_t mask) {
    struct cluster *cluster = w->block->cluster;
    w->wait_line = r->line;
    w->wait_bytes = 0;
    for (int i = 0; i < LANES; i++) if (mask >> i & 1 && w->cluster_arrived[i] == cluster->phase) return ASYNC_BLOCKED;
    async_learn(w, cluster->clock);
    if (w->block->launch->check) check_acquire(w);
    if (w->block->launch->profile && cluster->cycle > w->clock) w->clock = cluster->cycle;
    return ASYNC_DONE;
}

int async_exits(struct warp *w, const struct row *r, uint32_t mask) {
    if (!w->block->launch->kernel->async) return 0;
    if (bulk_exits(w, r, mask)) return 1;
    if (w->seen && w->block->exited + (uint32_t)__builtin_popcount(mask) == w->block->thread_count) check_visitors(w, r);
    struct cluster *cluster = w->block->cluster;
    /* who arrived and exits is not counted twice */
    for (int i = 0; i < LANES; i++) if (mask >> i & 1 && w->cluster_arrived[i] == cluster->phase) cluster->arrived--;
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
        /* a rank that there is not gives an address that there is not */
        uint64_t to = base + ((uint64_t)(rank < MOST_CLUSTER ? rank + 1 : 255) << 24) + ((from - base) & 0xffffff);
        if (r->wide & 1) u64_of(w, r->d)[lane] = to; else u32_of(w, r->d)[lane] = (uint32_t)to;
    }
}

/* ---- who waits for ever ---- */
bool async_stuck(struct block *block) {
    struct cluster *cluster = block->cluster;
    if (cluster->changes != block->changes) { block->changes = cluster->changes; block->stalls = 0; return false; }
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
    fault(first, &row, bytes ? MBARRIER_BYTES : DEADLOCK, __builtin_ctz(first->existing & ~first->exited), NULL, bytes ? first->wait_bytes : 0, 0, false);
}

int async_run(struct warp *w, const struct row *r, uint32_t mask) {
    if (w->any_undefined && r->d != NONE) w->undefined[r->d] &= ~mask;
    switch (r->size) {
    case MBARRIER_INIT: case MBARRIER_INVAL: case MBARRIER_ARRIVE: case MBARRIER_DROP: case MBARRIER_EXPECT: case MBARRIER_COMPLETE:
        return all_arrive(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    case MBARRIER_TEST: case MBARRIER_TRY: return waits(w, r, mask);
    case COPIES_ARRIVE: return copies_arrive(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    case CLUSTER_ARRIVE: cluster_arrives(w, r, mask); return ASYNC_DONE;
    case CLUSTER_WAIT: return cluster_waits(w, r, mask);
    case MAP_RANK: case RANK_OF: map_rank(w, r, mask); return ASYNC_DONE;
    case PROXY_FENCE: fence_proxies(w); return ASYNC_DONE;
    case BULK_COPY: return bulk_copy(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    case BULK_COMMIT: return bulk_commit(w) ? ASYNC_STOPPED : ASYNC_DONE;
    case BULK_WAIT: case BULK_WAIT_READ: return bulk_wait(w, r, (uint32_t)r->imm, r->size == BULK_WAIT_READ) ? ASYNC_STOPPED : ASYNC_DONE;
    case PRODUCT_FENCE: case PRODUCT: case PRODUCT_COMMIT: case PRODUCT_WAIT: return product_run(w, r, mask) ? ASYNC_STOPPED : ASYNC_DONE;
    }
    fault(w, r, BAD_CALL, __builtin_ctz(mask), NULL, 0, 0, false);
    return ASYNC_STOPPED;
}
