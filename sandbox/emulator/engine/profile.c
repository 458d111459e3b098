/* Counts a launch's needs by row, and its blocks' time by latency alone.
 *
 * On one host thread, for a fixed order of blocks and warps. */
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "described.h"

enum { SECTOR = 32, LINE = 128, L1_WAYS = 4, L2_SETS = 32768, L2_WAYS = 12 };
/* Arrays of this size stay in L2. */
enum { FITS_BYTES = L2_SETS * L2_WAYS / 4 * 3 * LINE };
/* Atomics to so few bytes share a unit of L2. */
enum { PLACE = 256, PLACES = 1 << 16 };
/* Of a sample. Left-out groups change a place, too, if this many groups do. */
enum { MOST_OF_GROUP = MOST_CLUSTER > 4 ? MOST_CLUSTER : 4, GROUPS_SHARE = 3 };
/* Relative to the mean. */
static const double UNEVEN = 0.1;
/* Until it is known what most blocks use. */
enum { LEAST_RAN = 4 };
/* See model.py. */
static const uint16_t LATENCY[CLASS_COUNT] = {
        [CLASS_FREE] = 0,
        [CLASS_INTEGER] = 5,
        [CLASS_FLOAT] = 4,
        [CLASS_DOUBLE] = 8,
        [CLASS_SPECIAL] = 18,
        [CLASS_CONVERT] = 8,
        [CLASS_MEMORY] = 4,
        [CLASS_SHUFFLE] = 24,
        [CLASS_SYNC] = 16,
        [CLASS_MATRIX] = 33,
        [CLASS_BRANCH] = 6,
};
enum {
    SHARED_CYCLES = 29,
    L1_CYCLES = 33,
    L2_CYCLES = 280,
    DRAM_CYCLES = 800,
    ATOMIC_CYCLES = 300,
    CLUSTER_CYCLES = 190
};
/* Measured on an H100 (benchmarks/gpu/rates.py): a barrier, which takes warps one by one; a match by distinct values;
 * shared-memory atomics as loops of compare-and-swap, by the lanes in a bank. RETRY_PASSES: in addition to one for each
 * lane. */
enum {
    BARRIER_CYCLES = 12,
    BARRIER_CYCLES_EACH = 2,
    MATCH_CYCLES = 34,
    MATCH_CYCLES_EACH = 11,
    MATCH_SLOTS_EACH = 2,
    RETRY_CYCLES = 95,
    RETRY_PASSES = 12,
    RETRY_PASSES_EACH = 10
};
enum { MOST_RESIDENT = 32, MOST_MULTIPROCESSORS = 256 };
enum { MOST_POLL_ROWS = 256 };

/* Lines of four sectors, least-recently-used replacement. */
struct cache {
    uint32_t sets, ways;
    uint64_t clock, *lines, *used;
    uint8_t *sectors;
    struct held *held;
};
/* In L2: the last block, its lines by then, and sectors not yet in memory. In a sample also a place in the order of all
 * blocks' lines, in the launch or ``before`` it. ``users``: the launch's blocks. */
struct held {
    uint64_t owner, touched;
    double before;
    uint32_t users;
    uint8_t sectors, dirty;
};
/* Multiprocessor m has ``places`` m, m + their number and so on; ``heap``: used places by the time when they are free.
 *
 * In a sample, ``ran`` blocks brought ``touched`` lines into L2, and all blocks of earlier launches ``brought``. With
 * groups: the present one's part and number, the launch's counts, and representatives of the other blocks. */
struct kept {
    uint64_t number, chain, asked[NEED_COUNT];
    bool at_end;
};
struct schedule {
    bool fits;
    double issued, issued_squared; /* sums over blocks of instructions, and of their squares */
    uint64_t free_at[MOST_RESIDENT * MOST_MULTIPROCESSORS], chain[MOST_RESIDENT * MOST_MULTIPROCESSORS];
    uint64_t asked[MOST_MULTIPROCESSORS][NEED_COUNT];
    uint32_t heap[MOST_RESIDENT * MOST_MULTIPROCESSORS], places, used;
    uint64_t ran, touched;
    double brought;
    enum sample_part part;
    uint32_t group;
    struct counts *counts;
    struct kept *kept;
    uint32_t kept_count, kept_room;
};
/* Updates by place, from how many groups, and the last group. */
struct places {
    uint64_t place[PLACES], count[PLACES];
    uint32_t groups[PLACES], last[PLACES];
    bool any;
};
void places_delete(struct places *it) { free(it); }

void cache_delete(struct cache *it) {
    if (it == NULL) return;
    free(it->lines);
    free(it->used);
    free(it->sectors);
    free(it->held);
    free(it);
}
static struct cache *cache_new(uint32_t sets, uint32_t ways) {
    struct cache *it = allocate(1, sizeof *it);
    size_t count = (size_t)sets * ways;
    if (!it) return NULL;
    *it = (struct cache){.sets = sets,
            .ways = ways,
            .lines = allocate(count, 8),
            .used = allocate(count, 8),
            .sectors = allocate(count, 1)};
    if (it->lines && it->used && it->sectors) return it;
    cache_delete(it);
    return NULL;
}
static struct cache *second_new(void) {
    struct cache *it = cache_new(L2_SETS, L2_WAYS);
    if (!it) return NULL;
    if ((it->held = allocate((size_t)L2_SETS * L2_WAYS, sizeof *it->held))) return it;
    cache_delete(it);
    return NULL;
}
static void cache_clear(struct cache *it) {
    memset(it->sectors, 0, (size_t)it->sets * it->ways);
    memset(it->used, 0, 8 * (size_t)it->sets * it->ways);
}
/* If not ``found``, the oldest of its set. */
static size_t second_at(const struct cache *it, uint64_t line, bool *found) {
    size_t first = (size_t)((line * 0x9e3779b97f4a7c15ull >> 40) % L2_SETS) * L2_WAYS, oldest = first;
    const uint64_t *lines = it->lines + first;
    uint32_t same = 0;
    for (uint32_t i = 0; i < L2_WAYS; i++) same |= (uint32_t)(lines[i] == line) << i;
    for (; same; same &= same - 1)
        if (it->used[first + (uint32_t)__builtin_ctz(same)]) {
            *found = true;
            return first + (uint32_t)__builtin_ctz(same);
        }
    *found = false;
    for (size_t i = first + 1; i < first + L2_WAYS; i++)
        if (it->used[i] < it->used[oldest]) oldest = i;
    return oldest;
}

static double lines_of_blocks(const struct schedule *, const struct block *);

/* In a sample: left-out blocks would have evicted the line since another block used it. */
static bool is_gone(const struct block *block, const struct cache *it, size_t at) {
    const struct schedule *schedule = block->launch->engine->schedule;
    double each = lines_of_blocks(schedule, block), since;
    if (it->held[at].owner) {
        uint64_t other = it->held[at].owner - 1;
        since = each * (double)(other > block->number ? other - block->number : block->number - other);
    } else since = schedule->brought + each * block->number - it->held[at].before;
    return since > (double)it->sets * it->ways;
}

static bool cache_has(struct cache *it, uint64_t sector) {
    uint64_t line = sector / (LINE / SECTOR);
    uint8_t bit = (uint8_t)(1u << sector % (LINE / SECTOR));
    size_t first = (size_t)((line * 0x9e3779b97f4a7c15ull >> 40) % it->sets) * it->ways, oldest = first;
    it->clock++;
    for (size_t i = first; i < first + it->ways; i++) {
        if (it->used[i] && it->lines[i] == line) {
            bool there = it->sectors[i] & bit;
            it->sectors[i] |= bit;
            it->used[i] = it->clock;
            return there;
        }
        if (it->used[i] < it->used[oldest]) oldest = i;
    }
    it->lines[oldest] = line;
    it->sectors[oldest] = bit;
    it->used[oldest] = it->clock;
    return false;
}

/* Left-out blocks of a sample brought it. If all arrays stay in the cache, counted blocks miss at most their share of
 * an array. */
static bool is_brought(const struct block *block, uint64_t sector, uint32_t sectors) {
    const struct launch *launch = block->launch;
    const struct schedule *schedule = launch->engine->schedule;
    if (!schedule->fits || schedule->part != PART_COUNTS) return false;
    struct region *region = region_of(launch->engine, sector * SECTOR);
    if (!region) return false;
    uint32_t side_by_side = launch->cluster_size > 4 ? launch->cluster_size : 4;
    double left = (double)region->size / SECTOR - region->brought,
           share = (double)(launch->profile->counted + side_by_side) / (double)launch->block_count;
    if ((double)region->fetched >= left * share) return true;
    region->fetched += sectors;
    return false;
}

/* Adds the sector. ``dram``: sectors read, with a neighbour, or first written. A card runs hundreds of blocks at a
 * time, so a block finds its own sector only if that many blocks would not have evicted it; another block's if it is
 * still there. */
static bool second_has(struct block *block, uint64_t sector, enum access access, uint64_t *dram) {
    struct cache *it = block->launch->engine->second;
    uint64_t line = sector / (LINE / SECTOR), number = block->number + 1;
    uint8_t bit = (uint8_t)(1u << sector % (LINE / SECTOR)), pair = (uint8_t)(3u << (sector % (LINE / SECTOR) & 2u));
    bool there, reads = access == READS || access == COPIES || access == FETCHES;
    it->clock++;
    size_t at = second_at(it, line, &there);
    struct held *held = &it->held[at];
    if (there && held->owner == number &&
            (block->touched - held->touched) * block->launch->profile->live > (uint64_t)it->sets * it->ways)
        there = false;
    else if (there && held->owner != number && block->launch->sample && is_gone(block, it, at)) there = false;
    if (!there) {
        held->sectors = held->dirty = 0;
        block->touched++;
    }
    if (it->lines[at] != line) held->users = 0;
    held->users += held->owner != number || !held->users;
    it->lines[at] = line;
    it->used[at] = it->clock;
    held->owner = number;
    held->touched = block->touched;
    there = held->sectors & bit;
    if (!there && reads && is_brought(block, sector, held->sectors & pair ? 1 : 2)) {
        held->sectors |= bit;
        there = true;
    }
    if (!there && access != WRITES) *dram += 1;
    if (!there && reads) {
        *dram += !(held->sectors & pair);
        held->sectors |= pair;
    }
    if (!reads && !(held->dirty & bit)) {
        *dram += 1;
        held->dirty |= bit;
    }
    held->sectors |= bit;
    return there;
}

/* In L1, from an earlier block: more than half of all blocks use the line, and one block does not fill L1. Which blocks
 * share a multiprocessor is unknown. */
static bool is_shared(const struct block *block, uint64_t sector) {
    const struct launch *launch = block->launch;
    const struct schedule *schedule = launch->engine->schedule;
    const struct profile *profile = launch->profile;
    if (block->number < profile->multiprocessors || schedule->ran < LEAST_RAN ||
            lines_of_blocks(schedule, block) > (double)(profile->l1_lines * profile->resident))
        return false;
    struct cache *it = launch->engine->second;
    bool there;
    size_t at = second_at(it, sector / (LINE / SECTOR), &there);
    struct held *held = &it->held[at];
    if (!there || 2 * (uint64_t)held->users <= schedule->ran || !(held->sectors >> sector % (LINE / SECTOR) & 1))
        return false;
    it->used[at] = ++it->clock;
    held->users += held->owner != block->number + 1;
    held->owner = block->number + 1;
    held->touched = block->touched;
    return true;
}

static void update_place(struct launch *launch, uint64_t place, uint64_t updates) {
    struct places *it = launch->engine->places;
    const struct schedule *schedule = launch->engine->schedule;
    if (schedule->part != PART_COUNTS) return;
    size_t at = (place * 0x9e3779b97f4a7c15ull >> 40) % PLACES;
    for (int tries = 0; tries < 16 && it->count[at] && it->place[at] != place; tries++) at = (at + 1) % PLACES;
    it->place[at] = place;
    it->any = true;
    it->count[at] += updates;
    launch->profile->updates += updates;
    if (it->count[at] > launch->profile->updates_most) launch->profile->updates_most = it->count[at];
    if (it->last[at] != schedule->group + 1) {
        it->last[at] = schedule->group + 1;
        it->groups[at]++;
    }
    if (it->groups[at] >= GROUPS_SHARE && it->count[at] > launch->profile->updates_shared)
        launch->profile->updates_shared = it->count[at];
}

static struct counts *counts_of(struct warp *w) { return &w->block->launch->profile->counts[w->pc]; }

static void ask(struct warp *w, uint32_t need, uint64_t units) {
    w->block->asked[need] += units;
    for (enum from from = 0; from < FROM_COUNT && need <= NEED_ISSUE; from++) w->timing.since[from][need] += units;
}

static void pass(struct warp *w, uint64_t passes) {
    counts_of(w)->passes += passes;
    ask(w, NEED_BANKS, passes);
}

static const uint32_t *vector_of(const struct warp *w, const struct row *r) {
    return r->op == OP_ATOMIC && r->count > 1 ? (const uint32_t *)w->pool + r->spare : NULL;
}

static bool loads(const struct row *r) { return r->op == OP_LOAD || (r->op == OP_MATRIX && r->count); }

void schedule_delete(struct schedule *it) {
    if (it) free(it->kept);
    free(it);
}

static double lines_of_blocks(const struct schedule *it, const struct block *block) {
    return it->ran ? (double)it->touched / (double)it->ran : (double)block->touched;
}

static void schedule_begin(struct launch *launch) {
    struct engine *engine = launch->engine;
    struct profile *profile = launch->profile;
    struct schedule *it = engine->schedule;
    uint64_t all = 0;
    if (profile->fresh) it->brought = 0;
    for (uint32_t i = 0; i < engine->region_count; i++) {
        struct region *region = &engine->regions[i];
        if (!region->freed) all += region->size;
        region->fetched = 0;
        if (profile->fresh) region->brought = 0;
    }
    it->fits = launch->sample && launch->sample->groups && all <= FITS_BYTES;
    it->ran = it->touched = 0;
    it->issued = it->issued_squared = 0;
    it->part = PART_COUNTS;
    it->counts = profile->counts;
    it->kept_count = 0;
    if (profile->resident > MOST_RESIDENT) profile->resident = MOST_RESIDENT;
    if (profile->multiprocessors > MOST_MULTIPROCESSORS) profile->multiprocessors = MOST_MULTIPROCESSORS;
    it->places = (uint32_t)(profile->resident * profile->multiprocessors);
    it->used = 0;
    memset(it->chain, 0, sizeof it->chain);
    memset(it->asked, 0, sizeof it->asked);
}

static bool is_before(const struct schedule *it, uint32_t one, uint32_t other) {
    return it->free_at[one] != it->free_at[other] ? it->free_at[one] < it->free_at[other] : one < other;
}

static uint32_t place_for(struct schedule *it, uint64_t cycles) {
    uint32_t at, place;
    if (it->used < it->places) {
        place = it->used;
        it->free_at[place] = cycles;
        for (at = it->used++; at && is_before(it, place, it->heap[(at - 1) / 2]); at = (at - 1) / 2)
            it->heap[at] = it->heap[(at - 1) / 2];
        it->heap[at] = place;
        return place;
    }
    place = it->heap[0];
    it->free_at[place] += cycles;
    for (at = 0; 2 * at + 1 < it->used;) {
        uint32_t next = 2 * at + 1;
        if (next + 1 < it->used && is_before(it, it->heap[next + 1], it->heap[next])) next++;
        if (!is_before(it, it->heap[next], place)) break;
        it->heap[at] = it->heap[next];
        at = next;
    }
    it->heap[at] = place;
    return place;
}

/* ``chain``: cycles by latency alone. */
static void schedule_block(const struct launch *launch, const uint64_t needs[NEED_COUNT], uint64_t chain) {
    struct profile *profile = launch->profile;
    struct schedule *it = launch->engine->schedule;
    uint64_t each = (launch->block_count + profile->multiprocessors - 1) / profile->multiprocessors;
    double longest = 0;
    for (uint32_t need = 0; need < NEED_COUNT; need++) {
        double cycles = (double)needs[need] * profile->cycles[need];
        if (cycles > longest) longest = cycles;
    }
    uint64_t together = (uint64_t)(longest * (double)(each < profile->resident ? each : profile->resident)) + 1;
    uint32_t place = place_for(it, chain > together ? chain : together);
    uint64_t *asked = it->asked[place % profile->multiprocessors];
    for (uint32_t need = 0; need < NEED_COUNT; need++) {
        asked[need] += needs[need];
        if (asked[need] > profile->busiest[need]) profile->busiest[need] = asked[need];
    }
    it->chain[place] += chain;
    if (it->chain[place] > profile->chain) profile->chain = it->chain[place];
}

static int by_number(const void *one, const void *other) {
    uint64_t a = ((const struct kept *)one)->number, b = ((const struct kept *)other)->number;
    return a < b ? -1 : a > b;
}

/* Each block as the nearest counted one, those at the grid's ends as themselves. */
enum { MOST_SCHEDULED = 1 << 20 };
static void schedule_sampled(struct launch *launch) {
    struct profile *profile = launch->profile;
    struct schedule *it = launch->engine->schedule;
    qsort(it->kept, it->kept_count, sizeof *it->kept, by_number);
    uint64_t count = launch->block_count, step = (count + MOST_SCHEDULED - 1) / MOST_SCHEDULED, scheduled = 0;
    uint32_t before = NONE, at = 0;
    for (uint64_t number = 0; number < count; number += step, scheduled++) {
        const struct kept *kept = NULL;
        while (at < it->kept_count && it->kept[at].number < number) {
            if (!it->kept[at].at_end) before = at;
            at++;
        }
        if (at < it->kept_count && it->kept[at].number == number) kept = &it->kept[at];
        else {
            uint32_t after = at;
            while (after < it->kept_count && it->kept[after].at_end) after++;
            bool nearer = before == NONE ||
                    (after < it->kept_count && it->kept[after].number - number < number - it->kept[before].number);
            uint32_t found = nearer ? after : before;
            if (found < it->kept_count) kept = &it->kept[found];
        }
        if (kept) schedule_block(launch, kept->asked, kept->chain);
    }
    if (!scheduled || step == 1) return;
    double times = (double)count / (double)scheduled;
    profile->chain = (uint64_t)(times * (double)profile->chain);
    for (uint32_t need = 0; need < NEED_COUNT; need++)
        profile->busiest[need] = (uint64_t)(times * (double)profile->busiest[need]);
}

/* L2 keeps earlier launches' contents. */
bool profile_begin(struct launch *launch) {
    struct engine *engine = launch->engine;
    struct profile *profile = launch->profile;
    if (!engine->second) engine->second = second_new();
    if (!engine->places) engine->places = allocate(1, sizeof *engine->places);
    if (!engine->schedule) engine->schedule = allocate(1, sizeof *engine->schedule);
    if (!engine->second || !engine->places || !engine->schedule) return false;
    schedule_begin(launch);
    if (profile->fresh) {
        cache_clear(engine->second);
        for (size_t i = 0; i < (size_t)L2_SETS * L2_WAYS; i++)
            engine->second->held[i].sectors = engine->second->held[i].dirty = 0;
    }
    for (size_t i = 0; i < (size_t)L2_SETS * L2_WAYS; i++) /* of other launches */
        engine->second->held[i].owner = engine->second->held[i].users = 0;
    if (engine->places->any) memset(engine->places, 0, sizeof *engine->places);
    return true;
}

bool profile_group(struct launch *launch, uint32_t group, enum sample_part part) {
    struct schedule *it = launch->engine->schedule;
    it->group = group;
    it->part = part;
    launch->profile->counts = part == PART_COUNTS ? it->counts : launch->profile->unscaled;
    for (uint32_t more = MOST_OF_GROUP; it->kept_count + more > it->kept_room;) {
        struct kept *room = grown(it->kept, &it->kept_room, 256, sizeof *room);
        if (!room) return false;
        it->kept = room;
    }
    return true;
}

void profile_ends(struct launch *launch) {
    struct schedule *it = launch->engine->schedule;
    struct cache *second = launch->engine->second;
    if (!launch->sample) return;
    if (launch->sample->groups && !atomic_load(&launch->stop)) schedule_sampled(launch);
    for (uint32_t i = 0; i < launch->engine->region_count && launch->profile->counted; i++) {
        struct region *region = &launch->engine->regions[i];
        region->brought += (double)region->fetched * (double)launch->block_count / (double)launch->profile->counted;
    }
    double each = it->ran ? (double)it->touched / (double)it->ran : 0;
    for (size_t i = 0; i < (size_t)L2_SETS * L2_WAYS; i++)
        if (second->held[i].owner) second->held[i].before = it->brought + each * (double)(second->held[i].owner - 1);
    it->brought += each * (double)launch->block_count;
}

bool profile_is_uneven(const struct launch *launch) {
    const struct schedule *it = launch->engine->schedule;
    double mean = it->issued / (double)it->ran, variance = it->issued_squared / (double)it->ran - mean * mean;
    return it->ran && variance > UNEVEN * UNEVEN * mean * mean;
}

bool profile_block_new(struct block *block) {
    uint64_t sets = block->launch->profile->l1_lines / L1_WAYS;
    return (block->first = cache_new(sets ? (uint32_t)sets : 1, L1_WAYS)) != NULL;
}

void profile_block_begins(struct block *block) {
    cache_clear(block->first);
    block->released = block->touched = 0;
    memset(block->asked, 0, sizeof block->asked);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        w->timing.clock = w->timing.begins = w->timing.horizon = w->timing.shared_stored = 0;
        w->timing.round = w->timing.block_start = w->timing.guarded_until = 0;
        w->timing.issued = w->timing.worked = 0;
        memset(w->timing.arrived, 0, sizeof w->timing.arrived);
        memset(w->timing.since, 0, sizeof w->timing.since);
        memset(w->timing.rounds, 0, sizeof w->timing.rounds);
        memset(w->timing.past_looks, 0, sizeof w->timing.past_looks);
        memset(w->timing.ready, 0, 8 * (size_t)(block->launch->kernel->units + 1));
        memset(w->timing.late_ready, 0, sizeof w->timing.late_ready);
    }
}

static void later(uint64_t *clock, uint64_t than) {
    if (than > *clock) *clock = than;
}

/* Each of a multiprocessor's parts has these units, and every fourth warp of a block. */
enum { PARTS = 4 };
static const uint8_t OF_PARTS[] = {CLASS_INTEGER, CLASS_FLOAT, CLASS_DOUBLE, CLASS_SPECIAL, CLASS_CONVERT, NEED_ISSUE};

/* Cycles of a block that takes ``most`` after its last data: by latency alone, or what the busiest unit of a part
 * takes for the work since. */
static uint64_t after_data(const struct block *block, enum from from, uint64_t most) {
    uint64_t arrived = 0;
    double busiest = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) later(&arrived, block->warps[i].timing.arrived[from]);
    if (!arrived) return 0;
    for (uint32_t k = 0; k < sizeof OF_PARTS; k++)
        for (uint32_t part = 0; part < PARTS; part++) {
            uint64_t units = 0;
            for (uint32_t i = part; i < block->warp_count; i += PARTS)
                if (block->warps[i].timing.arrived[from]) units += block->warps[i].timing.since[from][OF_PARTS[k]];
            double cycles = PARTS * block->launch->profile->cycles[OF_PARTS[k]] * (double)units;
            if (cycles > busiest) busiest = cycles;
        }
    uint64_t after = most > arrived ? most - arrived : 0;
    later(&after, (uint64_t)busiest);
    return after;
}

void profile_block_ends(struct block *block) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        later(&most, block->warps[i].timing.clock);
        later(&most, block->warps[i].timing.horizon);
    }
    const struct launch *launch = block->launch;
    struct schedule *it = launch->engine->schedule;
    for (enum from from = 0; from < FROM_COUNT && it->part == PART_COUNTS; from++)
        launch->profile->after[from] += after_data(block, from, most);
    it->ran++;
    it->touched += block->touched;
    double issued = (double)block->asked[NEED_ISSUE];
    it->issued += issued;
    it->issued_squared += issued * issued;
    if (!launch->sample || !launch->sample->groups) {
        launch->profile->counted++;
        schedule_block(launch, block->asked, most);
        return;
    }
    if (it->part == PART_WARMS) return;
    launch->profile->counted += it->part == PART_COUNTS;
    struct kept *kept = &it->kept[it->kept_count++];
    *kept = (struct kept){.number = block->number, .chain = most, .at_end = it->part == PART_ENDS};
    memcpy(kept->asked, block->asked, sizeof kept->asked);
}

/* ``timing.ready`` holds a cycle and, in its lowest bits, the row that makes the value. */
enum { MAKER_BITS = 24, NO_MAKER = (1 << MAKER_BITS) - 1 };
static uint64_t when(const struct warp *w, uint32_t operand) {
    return operand < w->block->launch->kernel->units ? w->timing.ready[operand] >> MAKER_BITS : 0;
}
static void will_be_by(struct warp *w, uint32_t operand, uint64_t at, uint32_t maker) {
    if (operand < w->block->launch->kernel->units) w->timing.ready[operand] = at << MAKER_BITS | (maker & NO_MAKER);
}
static void will_be(struct warp *w, uint32_t operand, uint64_t at) { will_be_by(w, operand, at, w->pc); }

static uint32_t maker_of(const struct warp *w, const struct row *r, uint64_t at);

/* The row has its operands at ``begins``; earlier rows had theirs by the horizon. */
static void begins(struct warp *w, const struct row *r, struct counts *counts, uint64_t at) {
    w->timing.begins = at;
    later(&w->timing.horizon, w->timing.clock);
    if (at > w->timing.horizon) {
        uint32_t maker = maker_of(w, r, at);
        counts->waited += at - w->timing.horizon;
        w->block->launch->profile->counts[maker].delayed += at - w->timing.horizon;
        w->timing.horizon = at;
    }
}

static void in_order(struct warp *w) { later(&w->timing.clock, w->timing.horizon); }

/* A basic block ends. ptxas moves its loads ahead of uses and unrolls short loops, which then wait for a round before
 * the last few. */
static void block_ends(struct warp *w, const struct row *r) {
    uint32_t target = (uint32_t)r->imm;
    if (w->block->launch->profile->branches[w->pc] & UNROLLED_LOOP) {
        if (w->timing.block_start != target) {
            w->timing.block_start = target;
            for (uint32_t i = 0; i < LOOP_ROUNDS; i++) w->timing.rounds[i] = w->timing.horizon;
            w->timing.round = 0;
            in_order(w);
        } else {
            w->timing.rounds[w->timing.round % LOOP_ROUNDS] = w->timing.horizon;
            w->timing.round++;
            later(&w->timing.clock, w->timing.rounds[w->timing.round % LOOP_ROUNDS]);
        }
    } else {
        w->timing.block_start = NONE;
        in_order(w);
    }
}

static bool is_guarded(const struct warp *w) {
    return w->pc > w->timing.guarded_from && w->pc < w->timing.guarded_until;
}

/* A branch becomes its rows' predicate. Beyond the number of predicates, each waits for the earlier ones. */
static void predicate(struct warp *w, const struct row *r, uint64_t at) {
    bool within = is_guarded(w);
    if (!within && w->block->launch->profile->branches[w->pc] & IN_ORDER) {
        in_order(w);
        later(&at, w->timing.clock);
    }
    if (!within || at > w->timing.guarded_at) w->timing.guarded_at = at;
    if (!within) {
        w->timing.guarded_lanes = w->active;
        w->timing.guarded_from = w->pc;
        w->timing.guarded_until = 0;
    }
    if ((uint32_t)r->imm > w->timing.guarded_until) w->timing.guarded_until = (uint32_t)r->imm;
}

/* Polling takes no time: when the write comes depends on the engine's order of warps. Other work in between ends the
 * polling. */
static void look_again(struct warp *w, const uint64_t *addresses, uint32_t mask) {
    struct look *it = &w->timing.past_looks[w->pc % PAST_LOOKS];
    uint64_t where = mask;
    for (uint32_t left = mask; left; left &= left - 1)
        where = (where ^ addresses[__builtin_ctz(left)]) * 0x9e3779b97f4a7c15ull;
    bool only_looked = it->begins && w->timing.issued - it->issued <= MOST_POLL_ROWS && w->timing.worked < it->issued;
    it->issued = w->timing.issued;
    if (only_looked && it->row == w->pc && it->where == where && it->begins <= w->timing.begins) {
        w->timing.clock = w->timing.horizon = w->timing.begins = it->begins;
        return;
    }
    *it = (struct look){where, w->timing.begins, w->timing.issued, w->pc};
}

static uint32_t values_of(const struct warp *w, const struct row *r, uint32_t mask) {
    uint32_t found = 0;
    while (mask) {
        int first = __builtin_ctz(mask);
        for (uint32_t left = mask; left; left &= left - 1) {
            int i = __builtin_ctz(left);
            if (r->count == 8 ? u64_of(w, r->a)[i] == u64_of(w, r->a)[first]
                              : u32_of(w, r->a)[i] == u32_of(w, r->a)[first])
                mask &= ~(1u << i);
        }
        found++;
    }
    return found;
}

/* That the row does not name. Returns their number. */
enum { MOST_SOURCES = 16 };
static uint32_t bulk_sources(const struct warp *w, const struct row *r, uint32_t units[MOST_SOURCES]) {
    const struct bulk *it = (const struct bulk *)((const uint32_t *)w->pool + r->imm);
    const struct operand *operands[] = {&it->to, &it->from, &it->mbarrier, &it->size, &it->ranks};
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof operands / sizeof *operands; i++) units[count++] = operands[i]->unit;
    for (uint32_t i = 0; i < it->rank; i++) units[count++] = it->coordinates[i].unit;
    return count;
}

static uint32_t texture_sources(const struct warp *w, const struct row *r, uint32_t units[MOST_SOURCES]) {
    const struct lookup *it = (const struct lookup *)((const uint32_t *)w->pool + r->imm);
    uint32_t count = 0;
    units[count++] = it->object;
    for (uint32_t i = 0; i < 4; i++) units[count++] = it->places[i];
    for (uint32_t i = 0; it->operation == STORE_SURFACE && i < it->count; i++) units[count++] = it->outs[i];
    return count;
}

static uint32_t described_sources(const struct warp *w, const struct row *r, uint32_t units[MOST_SOURCES]) {
    if (r->op == OP_TEXTURE) return texture_sources(w, r, units);
    return r->op == OP_ASYNC && r->size == BULK_COPY ? bulk_sources(w, r, units) : 0;
}

/* Units in the pool: of D, then of A, B and C. */
static const uint32_t *matrix_units(const struct warp *w, const struct row *r, uint32_t *first, uint32_t *all) {
    const uint32_t *words = (const uint32_t *)w->pool + r->a, *counts = words + 12;
    *first = counts[0];
    *all = counts[0] + counts[1] + counts[2] + counts[3];
    if (*all > 64) *all = 64;
    return words + 16;
}

/* The last needed row, ready at ``at``; the row itself if unknown. */
static uint32_t maker_of(const struct warp *w, const struct row *r, uint64_t at) {
    uint32_t candidates[64 + MOST_SOURCES], count = 0, first, all;
    if (r->guard != NONE) candidates[count++] = r->guard & ~CONSTANT;
    if (r->op == OP_MATRIX && r->count == 0) {
        const uint32_t *units = matrix_units(w, r, &first, &all);
        for (uint32_t i = first; i < all; i++) candidates[count++] = units[i];
    } else {
        candidates[count++] = r->a;
        if (!loads(r)) {
            candidates[count++] = r->b;
            candidates[count++] = r->c;
            candidates[count++] = r->e;
        }
        if (r->op == OP_STORE) candidates[count++] = r->d;
        const uint32_t *vector = vector_of(w, r);
        for (uint32_t k = 0; vector && k < r->count && k < 16; k++) candidates[count++] = vector[k];
        count += described_sources(w, r, candidates + count);
    }
    for (uint32_t i = 0; i < count; i++)
        if (when(w, candidates[i]) == at && at) {
            uint32_t maker = w->timing.ready[candidates[i]] & NO_MAKER;
            if (maker < w->block->launch->kernel->row_count) return maker;
        }
    return w->pc;
}

void profile_row(struct warp *w, const struct row *r, uint32_t mask) {
    struct counts *counts = counts_of(w);
    struct profile *profile = w->block->launch->profile;
    uint32_t class = profile->classes[w->pc];
    counts->issued++;
    w->timing.issued++;
    uint32_t slots = profile->weights[w->pc].slots;
    if (class == CLASS_SPECIAL && slots > 1) { /* one turn of the unit, such as a reciprocal, made exact by floats */
        ask(w, CLASS_SPECIAL, 1);
        ask(w, CLASS_FLOAT, slots - 1);
    } else ask(w, class, slots);
    ask(w, NEED_ISSUE, slots);
    ask(w, NEED_TENSOR, profile->weights[w->pc].tensor);
    if (class == CLASS_MATRIX || (class == CLASS_MEMORY && !(r->op == OP_LOAD && r->flags & STRONG)))
        w->timing.worked = w->timing.issued;
    bool within = is_guarded(w);
    counts->lanes += (uint64_t)__builtin_popcount(within ? w->timing.guarded_lanes | w->active : w->active);
    counts->guarded += (uint64_t)__builtin_popcount(mask);
    if (r->op == OP_STORE || r->op == OP_ATOMIC ||
            (class == CLASS_SYNC && r->op != OP_WARP_BARRIER && r->op != OP_FENCE))
        memset(w->timing.past_looks, 0, sizeof w->timing.past_looks);
    if (class != CLASS_FREE) w->timing.clock += slots > 1 ? slots : 1;
    uint64_t at = class == CLASS_FREE ? 0 : w->timing.clock;
    if (r->guard != NONE) later(&at, when(w, r->guard & ~CONSTANT));
    if (profile->branches[w->pc] & PREDICATED_BRANCH) {
        predicate(w, r, at);
        return;
    }
    if (within) later(&at, w->timing.guarded_at);
    if (class == CLASS_MATRIX && r->op == OP_MATRIX && r->count == 0) {
        const uint32_t *words = (const uint32_t *)w->pool + r->a, *matrix_counts = words + 12, *units = words + 16;
        uint32_t first = matrix_counts[0], all = first + matrix_counts[1] + matrix_counts[2] + matrix_counts[3];
        for (uint32_t i = first; i < all && i < 64; i++) later(&at, when(w, units[i]));
        for (uint32_t i = 0; i < first && i < 64; i++) will_be(w, units[i], at + LATENCY[class]);
        begins(w, r, counts, at);
        return;
    }
    if (class == CLASS_BRANCH) {
        begins(w, r, counts, at);
        block_ends(w, r);
        w->timing.clock++;
        return;
    }
    if (class == CLASS_SYNC) {
        begins(w, r, counts, at);
        in_order(w);
        return;
    }
    later(&at, when(w, r->a));
    if (!loads(r)) {
        later(&at, when(w, r->b));
        later(&at, when(w, r->c));
        later(&at, when(w, r->e));
    }
    if (r->op == OP_STORE) later(&at, when(w, r->d));
    const uint32_t *vector = vector_of(w, r);
    for (uint32_t k = 0; vector && k < r->count; k++) later(&at, when(w, vector[k]));
    uint32_t sources[MOST_SOURCES], source_count = described_sources(w, r, sources);
    for (uint32_t k = 0; k < source_count; k++) later(&at, when(w, sources[k]));
    /* An arrival is an atomic of each lane, a test one of the warp. */
    if (r->op == OP_ASYNC && r->size <= MBARRIER_TRY)
        pass(w, r->size >= MBARRIER_TEST ? 1 : (uint64_t)__builtin_popcount(mask));
    if (class == CLASS_FREE) {
        if (mask) will_be_by(w, r->d, at, maker_of(w, r, at));
        return;
    }
    if (r->op == OP_LOAD && r->space == SHARED) later(&at, w->timing.shared_stored);
    begins(w, r, counts, at);
    if (r->op == OP_STORE && r->space == SHARED) later(&w->timing.shared_stored, w->timing.horizon);
    else if (class == CLASS_MEMORY && r->op != OP_LOAD && r->op != OP_MATRIX) in_order(w);
    uint64_t latency = LATENCY[class];
    if (r->op == OP_MATCH && r->size == MATCH_ANY) {
        uint32_t values = values_of(w, r, mask);
        counts->same += values;
        ask(w, CLASS_SHUFFLE, MATCH_SLOTS_EACH * (uint64_t)values - profile->weights[w->pc].slots);
        latency = MATCH_CYCLES + MATCH_CYCLES_EACH * values;
    }
    if (class != CLASS_MEMORY && mask) will_be(w, r->d, at + latency);
}

/* ``latency``: the slowest. */
static void ask_second(struct warp *w, uint64_t sector, enum access access, uint64_t *latency) {
    struct counts *counts = counts_of(w);
    bool there = second_has(w->block, sector, access, &counts->dram);
    counts->l2++;
    ask(w, NEED_FROM_L2, 1);
    later(latency, there ? L2_CYCLES : DRAM_CYCLES);
}

/* Data comes after ``latency``, that of the cache or the memory that it is from, and ``more`` cycles. */
static void arrives(struct warp *w, uint64_t begins, uint64_t latency, uint64_t more) {
    for (enum from from = 0; from < FROM_COUNT; from++) {
        if (latency < (from == FROM_MEMORY ? DRAM_CYCLES : L2_CYCLES)) continue;
        later(&w->timing.arrived[from], begins + latency + more);
        memset(w->timing.since[from], 0, sizeof w->timing.since[from]);
    }
}

/* Lanes ask for ``bytes`` of the array at ``address``. */
static void note_array(struct warp *w, uint64_t address, uint64_t bytes) {
    struct counts *counts = counts_of(w);
    const struct region *region = region_of(w->block->launch->engine, address);
    uint64_t number = region ? region->number : MIXED;
    counts->array = counts->bytes && counts->array != number ? MIXED : number;
    counts->bytes += bytes;
}

/* Around L1, through shared memory. */
uint64_t profile_bulk(struct warp *w, uint64_t address, uint64_t size, enum access access, bool of_memory) {
    uint64_t latency = of_memory ? L2_CYCLES : CLUSTER_CYCLES, stored = latency;
    if (access != FETCHES) pass(w, (size + LINE - 1) / LINE);
    if (of_memory && size && access != FETCHES) note_array(w, address, size);
    if (of_memory)
        for (uint64_t sector = address / SECTOR; size && sector <= (address + size - 1) / SECTOR; sector++) {
            ask_second(w, sector, access, access == READS ? &latency : &stored);
            if (access == UPDATES) update_place(w->block->launch, sector / (PLACE / SECTOR), 1);
        }
    if (access == READS && of_memory) arrives(w, w->timing.clock, latency, size / 64);
    return w->timing.clock + latency + size / 64;
}

/* Each warp of a group uses one tensor core. */
void profile_product(struct warp *w, uint64_t size, uint64_t bytes) {
    uint64_t begins = w->timing.product_ready > w->timing.clock ? w->timing.product_ready : w->timing.clock;
    w->timing.product_ready = begins + size * 16 / 256;
    pass(w, bytes / LINE);
}
void profile_product_waits(struct warp *w) {
    if (w->timing.product_ready + LATENCY[CLASS_MATRIX] > w->timing.clock && w->timing.product_ready)
        w->timing.clock = w->timing.product_ready + LATENCY[CLASS_MATRIX];
}

void profile_blocked(struct warp *w, uint32_t mask) {
    struct counts *counts = counts_of(w);
    const struct weight *weight = &w->block->launch->profile->weights[w->pc];
    counts->issued--;
    counts->lanes -= (uint64_t)__builtin_popcount(mask);
    w->block->asked[w->block->launch->profile->classes[w->pc]] -= weight->slots;
    w->block->asked[NEED_ISSUE] -= weight->slots;
    for (enum from from = 0; from < FROM_COUNT; from++) {
        w->timing.since[from][w->block->launch->profile->classes[w->pc]] -= weight->slots;
        w->timing.since[from][NEED_ISSUE] -= weight->slots;
    }
    w->timing.clock -= weight->slots > 1 ? weight->slots : 1;
}

static void results_at(struct warp *w, const struct row *r, uint64_t at) {
    const uint32_t *vector = vector_of(w, r);
    will_be(w, r->d, at);
    for (uint32_t k = r->count; vector && k < 2u * r->count; k++) will_be(w, vector[k], at);
    if (loads(r)) {
        will_be(w, r->b, at);
        will_be(w, r->c, at);
        will_be(w, r->e, at);
    }
}

void profile_split(struct warp *w) {
    if (!(w->block->launch->profile->branches[w->pc] & PREDICATED_BRANCH)) counts_of(w)->divergent++;
}

static void note_steps(struct counts *counts, const uint64_t *addresses, uint32_t mask) {
    if (counts->regular == 2 || !(mask & (mask - 1))) return;
    int last = __builtin_ctz(mask);
    int64_t step = 0;
    bool any = false;
    for (uint32_t left = mask & (mask - 1); left; left &= left - 1) {
        int i = __builtin_ctz(left);
        int64_t now = (int64_t)(addresses[i] - addresses[last]);
        if (i != last + 1 || (any && now != step)) {
            counts->regular = 2;
            return;
        }
        step = now;
        any = true;
        last = i;
    }
    if (counts->regular == 1 && (int64_t)counts->steps != step) {
        counts->regular = 2;
        return;
    }
    counts->regular = 1;
    counts->steps = (uint64_t)step;
}

/* Such results return together. */
static bool in_pairs(const uint64_t *offsets, uint32_t mask) {
    bool near = true, next = true;
    for (uint32_t left = mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        if (mask >> (i ^ 1) & 1 && offsets[i] != offsets[i ^ 1]) near = false;
        if (mask >> (i ^ 2) & 1 && offsets[i] != offsets[i ^ 2]) next = false;
    }
    return near || next;
}

/* Of 32 banks; a wide access serves fewer lanes at a time. ``ideal``: without conflicts. ``each``: lanes of one word
 * take turns. */
static uint32_t passes_of(
        const uint64_t *offsets, uint32_t mask, uint32_t size, bool pairs, bool each, uint32_t *ideal) {
    uint32_t lanes = size <= 4 ? 32 : size <= 8 ? 16 : 8, words = size <= 4 ? 1 : size / 4, all = 0;
    if (lanes < 32 && pairs && in_pairs(offsets, mask)) lanes *= 2;
    *ideal = 0;
    for (uint32_t from = 0; from < LANES; from += lanes) {
        uint64_t seen[32][32];
        uint8_t count[32] = {0};
        uint32_t most = 0;
        for (uint32_t i = from; i < from + lanes; i++) {
            if (!(mask >> i & 1)) continue;
            for (uint32_t k = 0; k < words; k++) {
                uint64_t word = offsets[i] / 4 + k;
                uint32_t bank = word % 32, at = 0;
                while (at < count[bank] && (each || seen[bank][at] != word)) at++;
                if (at == count[bank]) {
                    seen[bank][at] = word;
                    count[bank]++;
                }
                if (count[bank] > most) most = count[bank];
            }
        }
        all += most;
        *ideal += most > 0;
    }
    return all;
}

/* A card counts lanes of one word first (ATOMS.POPC.INC). */
static bool counts_up(const struct warp *w, const struct row *r) {
    return r->flags & COUNTS_UP && u32_of(w, r->b)[0] == 1;
}

void profile_shared(struct warp *w, const struct row *r, const uint64_t *offsets, uint32_t mask, uint32_t size,
        enum access access) {
    struct counts *counts = counts_of(w);
    uint32_t width = access == UPDATES || r->op == OP_MATRIX ? 0 : w->block->launch->profile->widths[w->pc], ideal;
    uint32_t wide = size * (width % WIDE_PLACE), before = size * (width % WIDE_FIRST / WIDE_PLACE);
    bool aligned = width > 0, first = width & WIDE_FIRST;
    for (uint32_t left = mask; aligned && left; left &= left - 1)
        aligned = (offsets[__builtin_ctz(left)] - before) % wide == 0;
    if (aligned && !first) {
        if (access != WRITES) results_at(w, r, w->timing.begins + SHARED_CYCLES);
        return;
    } /* the first did it */
    uint64_t begin[LANES];
    for (uint32_t left = mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        begin[i] = offsets[i] - (aligned ? before : 0);
    }
    uint32_t passes = passes_of(begin, mask, aligned ? wide : size, access == READS && r->op != OP_MATRIX,
            access == UPDATES && !counts_up(w, r), &ideal);
    counts->shared_requests++;
    pass(w, passes);
    counts->ideal_passes += ideal;
    note_steps(counts, offsets, mask);
    if (access == UPDATES && r->flags & RETRIED) {
        counts->same += passes;
        ask(w, NEED_BANKS, RETRY_PASSES + RETRY_PASSES_EACH * (uint64_t)passes);
        later(&w->timing.clock, w->timing.begins + RETRY_CYCLES * passes);
        results_at(w, r, w->timing.begins + RETRY_CYCLES * passes);
    } else if (access != WRITES) results_at(w, r, w->timing.begins + SHARED_CYCLES + passes);
}

void profile_constant(struct warp *w, const struct row *r, const uint64_t *offsets, uint32_t mask) {
    struct counts *counts = counts_of(w);
    uint32_t passes = 0;
    for (uint32_t left = mask; left; passes++) {
        uint64_t one = offsets[__builtin_ctz(left)];
        for (uint32_t others = left; others; others &= others - 1)
            if (offsets[__builtin_ctz(others)] == one) left &= ~(others & -others);
    }
    counts->constant_requests++;
    counts->constant_passes += passes;
    ask(w, NEED_BANKS, passes);
    results_at(w, r, w->timing.begins + SHARED_CYCLES + passes);
}

enum { MOST_ADDRESSES = 8 * LANES };
/* At most two for each address. */
static uint32_t sectors_of(
        const uint64_t *addresses, uint32_t count, uint32_t size, uint64_t sectors[2 * MOST_ADDRESSES]) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t sector = addresses[i] / SECTOR, k = 0; sector <= (addresses[i] + size - 1) / SECTOR && k < 2;
                sector++, k++) {
            uint32_t same = found;
            while (same > 0 && sectors[same - 1] != sector) same--;
            if (same == 0) sectors[found++] = sector;
        }
    return found;
}

static uint32_t lines_of(const uint64_t *sectors, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = i;
        while (k > 0 && sectors[k - 1] / (LINE / SECTOR) != sectors[i] / (LINE / SECTOR)) k--;
        found += k == 0;
    }
    return found;
}

/* Returns the latency. */
static uint64_t ask_first(
        struct warp *w, uint64_t *sectors, uint32_t count, uint64_t bytes, enum access access, bool cached) {
    struct counts *counts = counts_of(w);
    uint32_t ideal = (uint32_t)((bytes + SECTOR - 1) / SECTOR), lines = lines_of(sectors, count);
    uint64_t latency = L1_CYCLES, stored = 0;
    counts->requests++;
    counts->sectors += count;
    counts->ideal_sectors += ideal < count ? ideal : count;
    counts->lines += lines;
    ask(w, NEED_LINES, (LINE / SECTOR) * (uint64_t)lines);
    for (uint32_t i = 0; i < count; i++)
        if (!cached || (!cache_has(w->block->first, sectors[i]) && !is_shared(w->block, sectors[i])))
            ask_second(w, sectors[i], access, access == READS ? &latency : &stored);
    if (access == READS || access == COPIES) arrives(w, w->timing.begins, access == READS ? latency : stored, count);
    return latency;
}

static uint32_t packed(const uint64_t *addresses, uint32_t mask, uint64_t into[LANES]) {
    uint32_t count = 0;
    for (; mask; mask &= mask - 1) into[count++] = addresses[__builtin_ctz(mask)];
    return count;
}

void profile_global(struct warp *w, const struct row *r, const uint64_t *addresses, uint32_t mask, uint32_t size,
        enum access access) {
    struct launch *launch = w->block->launch;
    struct counts *counts = counts_of(w);
    if (access == READS && r->flags & STRONG) look_again(w, addresses, mask);
    uint64_t sectors[2 * MOST_ADDRESSES], each[LANES];
    uint32_t lanes = packed(addresses, mask, each), count = sectors_of(each, lanes, size, sectors), same = 1;
    uint64_t latency =
            ask_first(w, sectors, count, (uint64_t)lanes * size, access, access == READS && !(r->flags & STRONG));
    note_steps(counts, addresses, mask);
    if (lanes && access != FETCHES) note_array(w, each[0], (uint64_t)lanes * size);
    if (access == UPDATES) {
        uint32_t of_sector[LANES * 2] = {0};
        for (uint32_t left = mask; left; left &= left - 1) {
            uint32_t times = 0, k = 0;
            uint64_t one = addresses[__builtin_ctz(left)];
            for (uint32_t others = mask; others; others &= others - 1) times += addresses[__builtin_ctz(others)] == one;
            if (times > same) same = times;
            while (k < count && sectors[k] != one / SECTOR) k++;
            if (k < count && times > of_sector[k]) of_sector[k] = times;
        }
        for (uint32_t k = 0; k < count; k++) update_place(launch, sectors[k] / (PLACE / SECTOR), of_sector[k]);
        counts->same += same;
        latency = ATOMIC_CYCLES + same;
    }
    if (access == COPIES) {
        later(&w->timing.late_ready[w->late_groups % LATE_GROUPS], w->timing.begins + DRAM_CYCLES);
        return;
    }
    if (access != WRITES && access != FETCHES) results_at(w, r, w->timing.begins + latency + count);
}

/* Lanes' words are adjacent, where the previous block's were. Stores stay in the caches. */
void profile_local(struct warp *w, const struct row *r, const uint64_t *offsets, uint32_t mask, uint32_t size,
        enum access access) {
    const struct block *block = w->block;
    struct counts *counts = counts_of(w);
    uint64_t local = block->launch->kernel->local_bytes,
             warp = block->number % block->launch->profile->live * block->warp_count + w->number;
    uint64_t each[4 * LANES], sectors[2 * MOST_ADDRESSES], latency = L1_CYCLES;
    uint32_t words = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t lane = (uint64_t)__builtin_ctz(mask), offset = offsets[lane] - lane * local;
        for (uint32_t i = 0; i < size && words < 4 * LANES; i += 4)
            each[words++] = LOCAL_BASE + (warp * local + (offset + i) / 4 * 4) * LANES + 4 * lane;
    }
    uint32_t count = sectors_of(each, words, 4, sectors);
    counts->local_requests++;
    counts->local_sectors += count;
    ask(w, NEED_LINES, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t dram = 0;
        if (cache_has(w->block->first, sectors[i])) continue;
        bool there = second_has(w->block, sectors[i], READS, &dram);
        counts->l2++;
        ask(w, NEED_FROM_L2, 1);
        if (access == WRITES) continue;
        counts->dram += dram;
        later(&latency, there ? L2_CYCLES : DRAM_CYCLES);
    }
    if (access == WRITES) return;
    arrives(w, w->timing.begins, latency, 0);
    results_at(w, r, w->timing.begins + latency);
}

void profile_frame(struct warp *w, uint32_t units) {
    struct counts *counts = counts_of(w);
    counts->local_requests += units;
    counts->local_sectors += (uint64_t)units * UNIT / SECTOR;
    ask(w, CLASS_MEMORY, units);
    ask(w, NEED_ISSUE, units);
    ask(w, NEED_LINES, (uint64_t)units * UNIT / SECTOR);
    w->timing.worked = w->timing.issued;
}

void profile_remote(struct warp *w, const struct row *r, uint32_t mask, uint32_t size, enum access access) {
    ask(w, NEED_FROM_L2, ((uint64_t)__builtin_popcount(mask) * size + SECTOR - 1) / SECTOR);
    if (access != WRITES) results_at(w, r, w->timing.begins + CLUSTER_CYCLES);
}

void profile_texture(struct warp *w, const uint64_t *addresses, uint32_t count, uint32_t mask, uint32_t size,
        const uint32_t *units, uint32_t unit_count, bool stores) {
    uint64_t sectors[2 * MOST_ADDRESSES];
    uint32_t found = sectors_of(addresses, count, size, sectors);
    uint64_t bytes = (uint64_t)__builtin_popcount(mask) * size;
    if (!count) return;
    uint64_t latency = ask_first(w, sectors, found, bytes, stores ? WRITES : READS, !stores);
    counts_of(w)->regular = 2;
    for (uint32_t i = 0; !stores && i < unit_count; i++)
        if (units[i] != NONE) will_be(w, units[i], w->timing.begins + latency + found);
}

void profile_heap(struct warp *w, const struct row *r, uint32_t mask, uint64_t address) {
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    counts_of(w)->same += lanes;
    update_place(w->block->launch, address / PLACE, lanes);
    will_be(w, r->d, w->timing.begins + ATOMIC_CYCLES + lanes);
}

/* ``rows`` of ``size`` bytes, ``stride`` apart. Eight at a time, each by four lanes with ``own`` bytes: accesses to
 * global memory, or one request to shared. */
void profile_fragment(struct warp *w, const struct row *r, const uint32_t *units, uint32_t count, uint64_t address,
        uint32_t rows, uint32_t size, uint64_t stride, uint32_t own, bool shared, bool stores) {
    struct row none = *r;
    struct counts *counts = counts_of(w);
    uint64_t addresses[LANES], requests = counts->shared_requests;
    none.d = none.b = none.c = none.e = NONE;
    none.op = OP_MATRIX;
    for (uint32_t row = 0; row < rows; row += 8)
        for (uint32_t column = 0; column < size; column += 4 * own) {
            uint32_t mask = 0;
            for (uint32_t i = 0; i < LANES; i++) {
                addresses[i] = address + (row + i / 4) * stride + column + i % 4 * own;
                if (row + i / 4 < rows && column + i % 4 * own < size) mask |= 1u << i;
            }
            if (shared) profile_shared(w, &none, addresses, mask, own, WRITES);
            else profile_global(w, &none, addresses, mask, own, stores ? WRITES : READS);
        }
    /* by ldmatrix */
    if (shared && own == 4 && counts->shared_requests > requests) counts->shared_requests = requests + 1;
    uint32_t latency = shared ? SHARED_CYCLES + rows : L2_CYCLES;
    if (!stores)
        for (uint32_t i = 0; i < count; i++) will_be(w, units[i], w->timing.begins + latency);
}

/* For at most ``left`` pending groups of cp.async. */
void profile_waits(struct warp *w, uint32_t left) {
    int64_t last = (int64_t)w->late_groups - (left ? (int64_t)left + 1 : 0);
    in_order(w);
    uint64_t begin = w->timing.clock;
    for (int64_t group = last; group >= 0 && group > last - LATE_GROUPS; group--)
        later(&w->timing.clock, w->timing.late_ready[group % LATE_GROUPS]);
    counts_of(w)->waited += w->timing.clock - begin;
}

void profile_resumes(struct warp *w) {
    uint64_t released = w->block->released;
    if (w->timing.clock >= released) return;
    if (w->pc && w->block->launch->kernel->rows[w->pc - 1].op == OP_BARRIER)
        w->block->launch->profile->counts[w->pc - 1].waited += released - w->timing.clock;
    w->timing.clock = released;
}
void profile_arrives(struct warp *w, struct barrier *barrier) {
    if (barrier->warps == MOST_OF_BLOCK) return;
    uint32_t at = barrier->warps++;
    for (; at && barrier->arrivals[at - 1] > w->timing.clock; at--) barrier->arrivals[at] = barrier->arrivals[at - 1];
    barrier->arrivals[at] = w->timing.clock;
}
void profile_released(struct block *block, struct barrier *barrier) {
    uint64_t taken = 0;
    for (uint32_t i = 0; i < barrier->warps; i++) {
        later(&taken, barrier->arrivals[i]);
        taken += BARRIER_CYCLES_EACH;
    }
    later(&block->released, taken + BARRIER_CYCLES);
    barrier->warps = 0;
}
