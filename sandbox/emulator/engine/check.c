/* Finds races, unwritten values, and the place of a fault.
 *
 * A segment is a warp's work between two synchronisations. Each granule of memory (at most 4 bytes) remembers the
 * segment and lane of its last write and of one read. Accesses race unless they are one thread's, a barrier is between
 * them, or one block published its work (an atomic, a fence) before the other looked (an atomic, a volatile load).
 *
 * That rule ignores the address, so it misses races, but reports no false ones. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "host.h"

#define LANE(entry) ((entry) & 31u)
#define ATOMIC_ENTRY 32u
#define MANY 64u
#define COPY_GRANULE 4u
#define PATIENCE 200 /* turns for others before a store of another value counts as a race */
#define SEGMENT(entry) ((entry) >> 7)
#define ENTRY(segment, lane) ((segment) << 7 | (uint32_t)(lane))

static struct segment *segment_at(struct engine *engine, uint32_t number) {
    return &engine->segments[number / CHUNK][number % CHUNK];
}

/* 0: too many, so checks end; or no memory. */
static uint32_t number_of_segment(struct engine *engine, bool *no_memory) {
    uint32_t number = atomic_fetch_add(&engine->next_segment, 1);
    if (number >= MOST_SEGMENTS) return 0;
    struct segment **chunk = &engine->segments[number / CHUNK];
    if (__atomic_load_n(chunk, __ATOMIC_ACQUIRE) == NULL) {
        struct segment *made = allocate(CHUNK, sizeof *made), *none = NULL;
        if (made == NULL) {
            *no_memory = true;
            return 0;
        }
        if (!__atomic_compare_exchange_n(chunk, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) free(made);
    }
    return number;
}

static uint32_t new_segment(struct warp *w) {
    struct engine *engine = w->block->launch->engine;
    struct block *block = w->block;
    bool no_memory = false;
    uint32_t number = number_of_segment(engine, &no_memory);
    if (no_memory) out_of_memory(block->launch);
    if (number == 0) return 0;
    *segment_at(engine, number) = (struct segment){.stamp = atomic_load(&engine->clock),
            .block = block->number,
            .interval = block->interval,
            .warp_syncs = w->warp_syncs,
            .warp = (uint16_t)w->number,
            .releases = block->launch->releases ? atomic_load(&block->launch->releases[block->number]) : 0,
            .cluster = block->cluster->number,
            .slot = w->slot,
            .epoch = w->epoch,
            .copied = w->copying};
    return number;
}

#define SHARED_MEMORY 0x80000000u
#define ANY_ARRAY 0xffffu
static uint32_t what_of(const struct row *r, const struct region *region, bool writes) {
    uint32_t array = r->space == SHARED && r->spare < ANY_ARRAY ? r->spare : ANY_ARRAY;
    return (region->owner ? SHARED_MEMORY | array << 1 : region->number << 1) | writes;
}

static bool may_be(uint32_t what, uint32_t other) {
    if (what == other) return true;
    bool shared = what & other & SHARED_MEMORY,
         any = (what >> 1 & ANY_ARRAY) == ANY_ARRAY || (other >> 1 & ANY_ARRAY) == ANY_ARRAY;
    return shared && any && !((what ^ other) & 1);
}

static uint32_t present_segment(struct warp *w, const struct row *r, const struct region *region, bool writes) {
    struct engine *engine = w->block->launch->engine;
    if (w->segment == 0 && (w->segment = new_segment(w)) == 0) return 0;
    struct segment *s = segment_at(engine, w->segment);
    uint32_t what = what_of(r, region, writes);
    for (uint32_t i = 0; i < s->lines && i < SEGMENT_LINES; i++)
        if (s->line[i].line == r->line && s->line[i].what == what) return w->segment;
    if (s->lines < SEGMENT_LINES) s->line[s->lines] = (struct accessed){r->line, what};
    if (s->lines <= SEGMENT_LINES) s->lines++;
    return w->segment;
}

/* 0: several, or too many to remember. */
static uint32_t line_in(const struct segment *s, uint32_t what) {
    uint32_t found = 0;
    if (s->lines > SEGMENT_LINES) return 0;
    if (s->lines == 1) return s->line[0].line;
    for (uint32_t i = 0; i < s->lines; i++) {
        if (!may_be(what, s->line[i].what)) continue;
        if (found && found != s->line[i].line) return 0;
        found = s->line[i].line;
    }
    return found;
}

void check_new_segment(struct warp *w) { w->segment = 0; }
void check_unrecorded(struct warp *w, struct region *region) {
    __atomic_store_n(&region->unrecorded, w->block->launch->order.number + 1, __ATOMIC_RELAXED);
}
void check_unnoted(struct warp *w, struct region *region) {
    __atomic_store_n(&region->unnoted, w->block->launch->order.number + 1, __ATOMIC_RELAXED);
}

void check_copies(struct warp *w, bool begin) {
    if (w->seen) {
        w->segment = 0;
        w->copying = begin;
    }
}

void check_release(struct warp *w) {
    struct block *block = w->block;
    atomic_fetch_add(&block->launch->engine->clock, 1);
    if (block->launch->releases) atomic_fetch_add(&block->launch->releases[block->number], 1);
    w->segment = 0;
}

void check_acquire(struct warp *w) { w->block->acquired = atomic_fetch_add(&w->block->launch->engine->clock, 1) + 1; }

static bool of_another_launch(const struct warp *w, uint32_t old) {
    return SEGMENT(old) < w->block->launch->first_segment;
}

/* Of an earlier segment to the present one. */
enum relation { UNORDERED, BY_LANE, BEFORE };
static enum relation relation_of(const struct warp *w, uint32_t segment) {
    const struct block *block = w->block;
    const struct launch *launch = block->launch;
    const struct segment *s = segment_at(launch->engine, segment);
    if (segment < launch->first_segment)
        return order_knows(launch->engine, &launch->order, launch->kernel->granule, segment) ? BEFORE : UNORDERED;
    bool together = w->seen && s->cluster == block->cluster->number;
    if (together && clock_knows(w, s)) return BEFORE;
    if (s->block == block->number) {
        if (s->async) return UNORDERED;
        if (s->interval < block->interval) return BEFORE;
        if (s->warp == w->number) return s->warp_syncs < w->warp_syncs ? BEFORE : BY_LANE;
        return UNORDERED;
    }
    if (!launch->releases) return BEFORE;
    return atomic_load(&launch->releases[s->block]) > s->releases && block->acquired > s->stamp ? BEFORE : UNORDERED;
}

/* Certainly before the lane's present access. */
static bool ordered(const struct warp *w, uint32_t old, int lane) {
    enum relation relation = relation_of(w, SEGMENT(old));
    return relation == BEFORE || (relation == BY_LANE && (int)LANE(old) == lane);
}

void check_undefined_read(struct warp *w, const struct row *r, uint32_t unit, uint32_t lanes,
        const struct region *region, int64_t offset) {
    w->undefined[unit] |= lanes;
    w->any_undefined |= 1;
    w->undefined[w->block->launch->kernel->units] = r->line;
    w->origin = region;
    w->origin_line = r->line;
    w->origin_offset = offset;
    w->origin_space = region == NULL ? LOCAL : region->owner ? SHARED : GLOBAL;
}

bool check_left_out(const struct warp *w) {
    if (!w->block->launch->sample) return false;
    atomic_store(&w->block->launch->engine->guessed, true);
    return true;
}

void check_undefined_used(struct warp *w, const struct row *r, uint32_t lanes) {
    uint32_t line = w->undefined[w->block->launch->kernel->units];
    struct finding origin = {.line = line & ~OF_SHUFFLE};
    bool product = false;
    for (uint32_t i = 0; i < w->product_count; i++) product |= w->products[i].line == origin.line;
    uint32_t kind = line & OF_SHUFFLE                        ? SHUFFLED
            : product && w->any_undefined & PENDING_PRODUCTS ? EARLY_RESULT
                                                             : UNWRITTEN;
    if (kind == UNWRITTEN && check_left_out(w)) return;
    struct row at = *r;
    bool known = kind == UNWRITTEN && origin.line == w->origin_line;
    if (known) at.space = w->origin_space;
    report(w, &at, kind, __builtin_ctz(lanes), known ? (struct region *)w->origin : NULL, known ? w->origin_offset : 0,
            0, false, &origin);
}

static void race(struct warp *w, const struct row *r, struct region *region, uint64_t offset, uint32_t size, int lane,
        bool writes, uint32_t old, bool old_writes, uint32_t segment) {
    struct launch *launch = w->block->launch;
    const struct segment *s = segment_at(launch->engine, SEGMENT(old));
    struct finding other = {.is_write = old_writes, .line = line_in(s, what_of(r, region, old_writes))};
    if (of_another_launch(w, old)) {
        other.other_work = order_describe(
                launch->engine, SEGMENT(old), s->block, s->warp * LANES + LANE(old), other.block, other.thread);
        report(w, r, STREAM_RACE, lane, region, (int64_t)offset, size, writes, &other);
        return;
    }
    if (other.line == r->line) other.together = writes && old_writes ? TOGETHER_WRITE : TOGETHER_UPDATE;
    block_at(launch, s->block, other.block);
    thread_at(launch, s->warp, LANE(old), other.thread);
    bool same_warp = s->block == w->block->number && s->warp == w->number,
         async = s->async || segment_at(launch->engine, segment)->async;
    report(w, r,
            async ? ASYNC_RACE
                    : same_warp     ? WARP_RACE
                    : region->owner ? SHARED_RACE
                                    : GLOBAL_RACE,
            lane, region, (int64_t)offset, size, writes, &other);
}

/* Lanes other than the recorded one may have read it since. */
static bool many_unordered(const struct warp *w, uint32_t old) {
    if (w->seen || of_another_launch(w, old)) return false; /* clocks know one reader only */
    const struct segment *s = segment_at(w->block->launch->engine, SEGMENT(old));
    return s->block == w->block->number && s->interval == w->block->interval &&
            !(s->warp == w->number && s->warp_syncs < w->warp_syncs);
}

/* NULL: unknown, as for an atomic. */
struct stored {
    const uint8_t *at, *value;
    bool same;
};

/* Another block stores the same value soon; its check comes first. */
static bool soon_same(struct warp *w, const struct row *r, const struct stored *it, uint32_t size, uint32_t old) {
    struct launch *launch = w->block->launch;
    if (it == NULL || segment_at(launch->engine, SEGMENT(old))->block == w->block->number) return false;
    for (uint32_t i = 0; i < launch->finding_count; i++)
        if (launch->findings[i].kind == GLOBAL_RACE && launch->findings[i].line == r->line) return false;
    for (int i = 0; i < PATIENCE; i++) {
        if (memcmp(it->at, it->value, size) == 0) return true;
        host_yield();
    }
    return false;
}

static inline void note_written(struct region *region) {
    if (!region->was_written) __atomic_store_n(&region->was_written, true, __ATOMIC_RELAXED);
}
static inline void note_read(struct region *region) {
    if (!region->was_read) __atomic_store_n(&region->was_read, true, __ATOMIC_RELAXED);
}

/* ``stored``: NULL unless known. */
static void touch(struct warp *w, const struct row *r, struct region *region, uint64_t granule, uint64_t offset,
        uint32_t size, int lane, bool writes, bool atomic, const struct stored *stored, uint32_t segment,
        uint32_t floor) {
    uint32_t *last = &region->written[granule], *reader = &region->read[granule], *other = &region->read_too[granule];
    uint32_t old = *last;
    bool same = stored && stored->same;
    if (SEGMENT(old) >= floor && SEGMENT(old) != 0 && !(atomic && (old & ATOMIC_ENTRY)) && !same &&
            !ordered(w, old, lane) && !soon_same(w, r, stored, size, old))
        race(w, r, region, offset, size, lane, writes, old, true, segment);
    uint32_t mine = ENTRY(segment, lane) | (atomic ? ATOMIC_ENTRY : 0);
    old = *reader;
    bool present = SEGMENT(old) >= floor && SEGMENT(old) != 0;
    if (writes) {
        if (present && !atomic && !same) {
            if (!ordered(w, old, lane)) race(w, r, region, offset, size, lane, writes, old, false, segment);
            else if ((old & MANY) && many_unordered(w, old) && !ordered(w, *other, lane))
                race(w, r, region, offset, size, lane, writes, *other, false, segment);
        }
        *last = mine;
    } else {
        if (old == mine || (SEGMENT(old) == segment && (old & MANY))) return;
        if (!present) *reader = mine;
        else if (ordered(w, old, lane)) *reader = mine | ((old & MANY) && many_unordered(w, old) ? MANY : 0);
        else if (!(old & MANY)) {
            *other = mine;
            *reader = old | MANY;
        }
    }
}

/* At once, which also explains a race with a read in that line. */
static void share_index(struct launch *launch, uint32_t line) {
    if (launch->finding_count == 0) return;
    while (atomic_flag_test_and_set(&launch->lock)) {}
    for (uint32_t i = 0; i < launch->finding_count; i++)
        if (launch->findings[i].line == line && launch->findings[i].together)
            launch->findings[i].together |= TOGETHER_WRITE;
    atomic_flag_clear(&launch->lock);
}

static void gather(const struct warp *w, const struct row *r, int lane, uint8_t *into) {
    const uint32_t ins[4] = {r->d, r->b, r->c, r->e};
    uint32_t step = r->size == 8 || (r->wide & 1) ? 8 : 4;
    for (uint32_t k = 0; k < r->count; k++)
        memcpy(into + k * r->size, (const uint8_t *)unit_of(w, ins[k]) + step * (uint32_t)lane, r->size);
}

/* ``lowest``: later than an earlier launch or the last barrier. ``write``, ``read``: the last looked up segments, which
 * most lanes meet again. */
struct relations {
    uint32_t segment;
    enum relation relation;
    bool many;
};
struct checked {
    const struct warp *w;
    uint32_t *written, *read, *read_too;
    uint32_t segment, lowest, shift, each; /* each: a lane's granules */
    bool was_written, was_read; /* if false, entries are zeros, and a look would fetch their pages */
    struct relations write, reader;
};

static inline const struct relations *related(const struct checked *it, struct relations *kept, uint32_t old) {
    if (kept->segment != SEGMENT(old))
        *kept = (struct relations){SEGMENT(old), relation_of(it->w, SEGMENT(old)), many_unordered(it->w, old)};
    return kept;
}

/* None, or certainly before. */
static inline bool is_before(const struct checked *it, struct relations *kept, uint32_t old, uint32_t mine) {
    if (old < it->lowest || (old & ~(ATOMIC_ENTRY | MANY)) == mine) return true;
    enum relation relation = related(it, kept, old)->relation;
    return relation == BEFORE || (relation == BY_LANE && LANE(old) == LANE(mine));
}

static inline void note_reader(struct checked *it, uint64_t granule, uint32_t mine) {
    uint32_t old = it->read[granule];
    if (old == mine || (old & MANY && SEGMENT(old) == it->segment)) return;
    if (old < it->lowest) it->read[granule] = mine;
    else if (is_before(it, &it->reader, old, mine))
        it->read[granule] = mine | (old & MANY && related(it, &it->reader, old)->many ? MANY : 0);
    else if (!(old & MANY)) {
        it->read_too[granule] = mine;
        it->read[granule] = old | MANY;
    }
}

/* As ``touch``, for granules of a lane where nothing can race. False: it did nothing, because something may. */
static inline bool read_quietly(struct checked *it, uint64_t first, uint32_t mine) {
    for (uint64_t g = first; g < first + it->each; g++)
        if (it->was_written && !is_before(it, &it->write, it->written[g], mine)) return false;
    for (uint64_t g = first; g < first + it->each; g++) note_reader(it, g, mine);
    return true;
}

static inline bool write_quietly(struct checked *it, uint64_t first, uint32_t mine) {
    for (uint64_t g = first; g < first + it->each; g++) {
        uint32_t reader = it->was_read ? it->read[g] : 0;
        if (!is_before(it, &it->write, it->written[g], mine) || !is_before(it, &it->reader, reader, mine)) return false;
        if (reader >= it->lowest && reader & MANY && related(it, &it->reader, reader)->many) return false;
    }
    for (uint64_t g = first; g < first + it->each; g++) it->written[g] = mine;
    return true;
}

static inline bool update_quietly(struct checked *it, uint64_t first, uint32_t mine) {
    for (uint64_t g = first; g < first + it->each; g++) {
        uint32_t last = it->written[g];
        if (!(last & ATOMIC_ENTRY) && !is_before(it, &it->write, last, mine)) return false;
    }
    for (uint64_t g = first; g < first + it->each; g++) it->written[g] = mine | ATOMIC_ENTRY;
    return true;
}

/* Whether all entries from ``lowest`` on are the newest one's segment's and, if that only orders lanes, each lane's
 * own. */
static inline __attribute__((always_inline)) bool row_before(
        const uint32_t *entries, uint32_t newest, uint32_t each, uint32_t lowest, enum relation relation) {
    uint32_t other = 0, apart = 0, count = LANES * each;
    for (uint32_t i = 0; i < count; i++) {
        other |= (entries[i] >= lowest) & (SEGMENT(entries[i]) != SEGMENT(newest));
        apart |= (entries[i] >= lowest) & (LANE(entries[i]) != i / each);
    }
    return !other && (relation == BEFORE || (relation == BY_LANE && !apart));
}

/* For all lanes, whose granules are in a row, after one segment alone. */
static inline __attribute__((always_inline)) bool row_quietly(
        struct checked *it, uint64_t first, uint32_t each, bool writes) {
    uint32_t *last = it->written + first, *reader = it->read + first, base = ENTRY(it->segment, 0), lowest = it->lowest,
             count = LANES * each;
    uint32_t wrote = 0, read = 0, many = 0;
    for (uint32_t i = 0; it->was_written && i < count; i++) wrote = wrote > last[i] ? wrote : last[i];
    for (uint32_t i = 0; it->was_read && i < count; i++) {
        read = read > reader[i] ? read : reader[i];
        many |= reader[i] >= lowest ? reader[i] : 0;
    }
    if (many & MANY) return false;
    if (wrote >= lowest && !row_before(last, wrote, each, lowest, related(it, &it->write, wrote)->relation))
        return false;
    if (read >= lowest && !row_before(reader, read, each, lowest, related(it, &it->reader, read)->relation))
        return false;
    uint32_t *into = writes ? last : reader;
    for (uint32_t i = 0; i < count; i++) into[i] = base + i / each;
    return true;
}

static bool all_quietly(struct checked *it, uint64_t first, bool writes) {
    switch (it->each) {
    case 1: return row_quietly(it, first, 1, writes);
    case 2: return row_quietly(it, first, 2, writes);
    case 4: return row_quietly(it, first, 4, writes);
    case 8: return row_quietly(it, first, 8, writes);
    default: return false;
    }
}

/* All lanes' read of one word, noted with MANY. */
static void check_word(struct warp *w, const struct row *r, struct region *region, struct checked *it, uint64_t offset,
        uint32_t size, uint32_t mask, uint32_t floor) {
    uint32_t segment = it->segment, one = (uint32_t)__builtin_ctz(mask),
             two = (uint32_t)__builtin_ctz(mask & (mask - 1));
    for (uint64_t g = offset >> it->shift; g <= (offset + size - 1) >> it->shift; g++) {
        uint32_t last = it->was_written ? region->written[g] : 0, reader = region->read[g];
        if (last < it->lowest && reader >= it->lowest && reader & MANY) continue;
        if (last < it->lowest || related(it, &it->write, last)->relation == BEFORE) {
            if (reader & MANY && SEGMENT(reader) == segment) continue;
            if (reader < it->lowest || (!(reader & MANY) && related(it, &it->reader, reader)->relation == BEFORE)) {
                region->read_too[g] = ENTRY(segment, two);
                region->read[g] = ENTRY(segment, one) | MANY;
                continue;
            }
        }
        for (uint32_t left = mask; left; left &= left - 1)
            touch(w, r, region, g, offset, size, __builtin_ctz(left), false, false, NULL, segment, floor);
        reader = region->read[g];
        if (SEGMENT(reader) == segment && !(reader & MANY)) {
            region->read_too[g] = ENTRY(segment, __builtin_ctz(mask & ~(1u << LANE(reader))));
            region->read[g] = reader | MANY;
        }
    }
}

/* Entries of segments before it certainly came before. */
static inline uint32_t floor_of(const struct warp *w, const struct region *region) {
    if (!region->owner) return w->block->launch->floor;
    return w->seen ? region->owner->first_segment : w->block->interval_first;
}

static inline struct checked checked_of(
        const struct warp *w, const struct region *region, uint32_t segment, uint32_t floor, uint32_t size) {
    uint32_t granule = w->block->launch->kernel->granule, shift = granule == 4 ? 2 : granule == 2 ? 1 : 0;
    return (struct checked){.w = w,
            .written = region->written,
            .read = region->read,
            .read_too = region->read_too,
            .segment = segment,
            .lowest = (floor ? floor : 1) << 7,
            .shift = shift,
            .each = size >> shift,
            .was_written = region->was_written,
            .was_read = region->was_read};
}

void check_access(struct warp *w, const struct row *r, struct region *region, const uint64_t *offsets, uint32_t mask,
        uint32_t size, bool writes, bool atomic) {
    struct launch *launch = w->block->launch;
    uint32_t segment = present_segment(w, r, region, writes), granule = launch->kernel->granule;
    if (segment == 0) return;
    bool shared = region->owner != NULL;
    if (shared && region->owner != w->block)
        region->owner->visitors[w->block->rank] = ENTRY(segment, __builtin_ctz(mask));
    if (shared && launch->check == BUT_SHARED_RACES) return;
    if (w->block->worker->watched) progress_touches(w, region, offsets, mask, size);
    uint32_t floor = floor_of(w, region);
    struct checked it = checked_of(w, region, segment, floor, size);
    uint32_t shift = it.shift;
    if (writes) note_written(region);
    else note_read(region);
    /* Whole granules, because accesses are aligned, unless the array begins within one. */
    bool quiet = it.each << shift == size && (offsets[__builtin_ctz(mask)] & (granule - 1)) == 0;
    if (quiet && mask == EVERY && !atomic && in_a_row(offsets, size) && all_quietly(&it, offsets[0] >> shift, writes))
        return;
    if (!writes && mask & (mask - 1)) {
        uint64_t first = offsets[__builtin_ctz(mask)], other = 0;
        for (int i = 0; i < LANES; i++) other |= mask >> i & 1 ? offsets[i] ^ first : 0;
        if (other == 0) {
            check_word(w, r, region, &it, first, size, mask, floor);
            return;
        }
    }
    if (!writes && size == granule) { /* noted already, and not written since */
        uint64_t first = offsets[__builtin_ctz(mask)];
        uint32_t missing = 0, late = 0, base = ENTRY(segment, 0);
        for (int i = 0; i < LANES; i++) {
            uint64_t at = (mask >> i & 1 ? offsets[i] : first) >> shift;
            uint32_t last = it.was_written ? region->written[at] : 0, reader = region->read[at],
                     mine = base + (uint32_t)i;
            bool noted = (last < it.lowest) | (last == mine), seen = (reader & MANY) != 0 || reader == mine;
            missing |= (uint32_t)!(noted & (reader >= it.lowest) & seen) << i;
            late |= (uint32_t)(last >= it.lowest) << i;
        }
        if (!(missing & mask)) return;
        if (quiet && !(late & mask)) { /* nobody wrote it since: nothing races */
            for (uint32_t left = missing & mask; left; left &= left - 1) {
                uint32_t lane = (uint32_t)__builtin_ctz(left), mine = base | lane;
                uint64_t at = offsets[lane] >> shift;
                if (region->read[at] < it.lowest) region->read[at] = mine;
                else if (!(region->read[at] & MANY)) note_reader(&it, at, mine);
            }
            return;
        }
    }
    bool known = writes && !atomic && r->op == OP_STORE && r->count <= 4;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint64_t offset = offsets[lane];
        uint32_t mine = ENTRY(segment, lane);
        if (!writes && size == granule) { /* common case: as above */
            uint32_t last = it.was_written ? region->written[offset >> shift] : 0,
                     reader = region->read[offset >> shift];
            if ((last < it.lowest || last == mine) && reader >= it.lowest && (reader & MANY || reader == mine))
                continue;
        }
        if (quiet) {
            uint64_t first = offset >> shift;
            if (atomic ? update_quietly(&it, first, mine)
                            : writes ? write_quietly(&it, first, mine)
                                     : read_quietly(&it, first, mine))
                continue;
        }
        uint8_t value[32], others[32];
        struct stored stored = {.at = region->data + offset, .value = value};
        if (known) {
            uint32_t last = region->written[offset >> shift], other = LANE(last);
            gather(w, r, lane, value);
            /* if lanes store at once, compare with the previous lane's value */
            bool at_once =
                    SEGMENT(last) == segment && (int)other < lane && mask >> other & 1 && offsets[other] == offset;
            if (at_once) gather(w, r, (int)other, others);
            stored.same = memcmp(at_once ? others : stored.at, value, size) == 0;
            if (at_once) share_index(launch, r->line);
        }
        for (uint64_t g = offset >> shift; g <= (offset + size - 1) >> shift; g++)
            touch(w, r, region, g, offset, size, lane, writes, atomic, known ? &stored : NULL, segment, floor);
    }
}

/* Whether ``count`` entries of a line come before all accesses of its lanes; ``place``: of the line's first granule. */
static bool line_before(struct checked *it, struct relations *kept, const uint32_t *entries, uint32_t count,
        const struct tile_lanes *lanes, uint32_t place, uint32_t *newest) {
    uint32_t most = 0, other = 0;
    for (uint32_t i = 0; i < count; i++) most = entries[i] > most ? entries[i] : most;
    *newest = most;
    if (most < it->lowest) return true;
    if (related(it, kept, most)->relation == BEFORE) {
        for (uint32_t i = 0; i < count; i++)
            other |= (uint32_t)(entries[i] >= it->lowest) & (SEGMENT(entries[i]) != SEGMENT(most));
        if (!other) return true;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < lanes->each; k++)
            if (!is_before(it, kept, entries[i], ENTRY(it->segment, lanes->order[place + i][k]))) return false;
    return true;
}

/* Notes reads of a line, as ``check_access`` does one by one. ``last``: the newest write. */
static void note_line(struct checked *it, uint64_t first, uint32_t count, const struct tile_lanes *lanes,
        uint32_t place, uint32_t last, bool whole) {
    uint32_t *read = it->read + first, least = ~0u, most = 0, many = MANY, other = 0, base = ENTRY(it->segment, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t old = read[i];
        least = old < least ? old : least;
        most = old > most ? old : most;
        many &= old;
        other |= SEGMENT(old) ^ it->segment;
    }
    if (many && (!other || (whole && last < it->lowest && least >= it->lowest))) return;
    if (most < it->lowest) {
        uint32_t flag = lanes->several ? MANY : 0;
        for (uint32_t i = 0; i < count; i++) read[i] = base | lanes->first[place + i] | flag;
        for (uint32_t i = 0; i < count && flag; i++) it->read_too[first + i] = base | lanes->second[place + i];
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t written = it->was_written ? it->written[first + i] : 0;
        for (uint32_t k = 0; k < lanes->each; k++) {
            uint32_t mine = base | lanes->order[place + i][k], old = read[i];
            if (whole && (written < it->lowest || written == mine) && old >= it->lowest && (old & MANY || old == mine))
                continue;
            note_reader(it, first + i, mine);
        }
    }
}

bool check_tile(struct warp *w, const struct row *r, const struct tile *tile, bool writes) {
    struct region *region = tile->region;
    uint32_t segment = present_segment(w, r, region, writes), newest;
    if (segment == 0 || (region->owner && w->block->launch->check == BUT_SHARED_RACES)) return true;
    struct checked it = checked_of(w, region, segment, floor_of(w, region), tile->size);
    uint64_t first = tile->offset >> it.shift, apart = tile->stride >> it.shift;
    uint32_t count = tile->bytes >> it.shift;
    for (uint32_t line = 0; line < tile->lines; line++) {
        uint64_t at = first + line * apart;
        if (it.was_written && !line_before(&it, &it.write, it.written + at, count, tile->lanes, line * count, &newest))
            return false;
        if (!writes || !it.was_read) continue;
        if (!line_before(&it, &it.reader, it.read + at, count, tile->lanes, line * count, &newest)) return false;
        for (uint32_t i = 0; i < count && newest >= it.lowest; i++) {
            uint32_t reader = it.read[at + i];
            if (reader >= it.lowest && reader & MANY && related(&it, &it.reader, reader)->many) return false;
        }
    }
    if (writes) note_written(region);
    else note_read(region);
    for (uint32_t line = 0; line < tile->lines; line++) {
        uint64_t at = first + line * apart;
        uint32_t base = ENTRY(segment, 0);
        const uint32_t *lanes = tile->lanes->first + line * count;
        if (writes) {
            for (uint32_t i = 0; i < count; i++) it.written[at + i] = base | lanes[i];
            continue;
        }
        newest = 0;
        for (uint32_t i = 0; it.was_written && i < count; i++)
            newest = it.written[at + i] > newest ? it.written[at + i] : newest;
        note_line(&it, at, count, tile->lanes, line * count, newest, tile->size == 1u << it.shift);
    }
    return true;
}

/* Checks a copy or memset for races like a launch. */
static void check_copied(struct engine *engine, const struct order *order, uint32_t floor, uint32_t number,
        uint64_t address, uint64_t size, bool writes) {
    struct region *region = region_of(engine, address);
    if (!region || !region->written || size == 0 || size > region->size - (address - region->address)) return;
    uint64_t first = (address - region->address) / COPY_GRANULE,
             last = (address - region->address + size - 1) / COPY_GRANULE;
    bool told = false;
    if (writes) note_written(region);
    else note_read(region);
    for (uint64_t g = first; g <= last; g++) {
        const uint32_t seen[3] = {
                region->written[g], region->read[g], region->read[g] & MANY ? region->read_too[g] : 0};
        for (int i = 0; i < (writes ? 3 : 1) && !told; i++) {
            uint32_t old = seen[i];
            if (SEGMENT(old) < floor || SEGMENT(old) == 0 || order_knows(engine, order, COPY_GRANULE, SEGMENT(old)))
                continue;
            const struct segment *s = segment_at(engine, SEGMENT(old));
            struct finding f = {.kind = STREAM_RACE,
                    .region = region->number,
                    .space = GLOBAL,
                    .offset = (int64_t)(g * COPY_GRANULE),
                    .size = COPY_GRANULE,
                    .is_write = writes,
                    .times = 1,
                    .has_other = 1,
                    .other_is_write = i == 0,
                    .other_line = line_in(s, region->number << 1 | (i == 0))};
            f.other_work = order_describe(
                    engine, SEGMENT(old), s->block, s->warp * LANES + LANE(old), f.other_block, f.other_thread);
            if (engine->finding_count < FINDINGS) engine->findings[engine->finding_count++] = f;
            told = true;
        }
        if (writes) region->written[g] = ENTRY(number, 0);
        else region->read[g] = ENTRY(number, 0);
    }
}

void engine_copied(struct engine *engine, uint64_t to, uint64_t from, uint64_t size) {
    static const uint32_t one[3] = {1, 1, 1};
    uint32_t floor;
    struct order order = order_next(engine, COPY_GRANULE, one, one, &floor);
    order_copies(engine, to, to ? size : 0, from != 0);
    bool no_memory = false;
    uint32_t number = order.given ? number_of_segment(engine, &no_memory) : 0;
    if (number == 0) return;
    *segment_at(engine, number) = (struct segment){0};
    if (from) check_copied(engine, &order, floor, number, from, size, false);
    if (to) check_copied(engine, &order, floor, number, to, size, true);
}

uint32_t check_async_segment(struct warp *w, const struct row *r, uint32_t slot, uint32_t epoch) {
    uint32_t number = w->seen ? new_segment(w) : 0;
    if (number) {
        struct segment *s = segment_at(w->block->launch->engine, number);
        s->async = true;
        s->slot = slot;
        s->epoch = epoch;
        s->lines = 1;
        s->line[0] = (struct accessed){r->line, 0};
    }
    return number;
}

/* No proxy fence made ``old`` known to asynchronous accesses. */
static bool unfenced(struct warp *w, uint32_t old) {
    const struct segment *s = segment_at(w->block->launch->engine, SEGMENT(old));
    return !s->async && !s->copied && s->cluster == w->block->cluster->number && !clock_fenced(w, s);
}

void check_async(struct warp *w, const struct row *r, struct region *region, uint64_t offset, uint64_t size, int lane,
        bool writes, bool atomic, uint32_t segment) {
    struct launch *launch = w->block->launch;
    if (segment == 0 || !region->written || size == 0 || (region->owner && launch->check == BUT_SHARED_RACES)) return;
    uint32_t granule = launch->kernel->granule, shift = granule == 4 ? 2 : granule == 2 ? 1 : 0;
    uint32_t floor = region->owner ? region->owner->first_segment : launch->floor, before_last = 0, before_reader = 0;
    uint32_t mine = ENTRY(segment, lane) | (atomic ? ATOMIC_ENTRY : 0);
    if (writes) note_written(region);
    else note_read(region);
    for (uint64_t g = offset >> shift; g <= (offset + size - 1) >> shift; g++) {
        uint32_t last = region->written[g], reader = region->read[g];
        if (g != offset >> shift && last == before_last && reader == before_reader) {
            if (writes) region->written[g] = mine;
            else {
                region->read[g] = region->read[g - 1];
                region->read_too[g] = region->read_too[g - 1];
            }
            continue;
        }
        before_last = last;
        before_reader = reader;
        if (!writes && region->owner && SEGMENT(last) >= floor && SEGMENT(last) && ordered(w, last, lane) &&
                unfenced(w, last)) {
            const struct segment *s = segment_at(launch->engine, SEGMENT(last));
            struct finding other = {.is_write = 1, .line = s->line[0].line};
            block_at(launch, s->block, other.block);
            thread_at(launch, s->warp, LANE(last), other.thread);
            report(w, r, NO_PROXY_FENCE, lane, region, (int64_t)(g << shift), granule, false, &other);
        }
        touch(w, r, region, g, g << shift, granule, lane, writes, atomic, NULL, segment, floor);
    }
}

uint32_t check_written(const struct warp *w, const struct region *region, uint64_t offset) {
    uint32_t granule = w->block->launch->kernel->granule;
    return w->seen && region->written ? region->written[offset / granule] : 0;
}

void check_after(struct warp *w, const struct row *r, struct region *region, uint64_t offset, uint32_t size, int lane,
        uint32_t entry) {
    if (!w->seen || SEGMENT(entry) == 0 || w->block->launch->check == BUT_SHARED_RACES || ordered(w, entry, lane))
        return;
    race(w, r, region, offset, size, lane, true, entry, true, present_segment(w, r, region, true));
}

void check_visitors(struct warp *w, const struct row *r) {
    struct block *block = w->block;
    for (uint32_t rank = 0; rank < block->cluster->size; rank++) {
        uint32_t entry = block->visitors[rank];
        if (SEGMENT(entry) == 0) continue;
        const struct segment *s = segment_at(block->launch->engine, SEGMENT(entry));
        bool known = false;
        for (uint32_t i = 0; i < block->warp_count; i++) known |= clock_knows(&block->warps[i], s);
        if (known) continue;
        struct row at = *r;
        struct warp *visitor = &block->cluster->blocks[rank]->warps[s->warp];
        at.line = s->line[0].line;
        at.space = SHARED;
        report(visitor, &at, CLUSTER_EXITED, (int)LANE(entry), &block->shared_region, 0, 4, false, NULL);
    }
}

static bool is_write_to(const struct segment *s, uint32_t entry, const struct region *region) {
    return s->line[entry].what == (region->number << 1 | 1);
}

static void set_thread(
        struct engine *engine, const struct region *region, uint32_t entry, int64_t work, struct writer *it) {
    const struct segment *s = segment_at(engine, SEGMENT(entry));
    it->kind = THREAD;
    it->work = (uint32_t)work;
    it->many = (entry & ATOMIC_ENTRY) != 0;
    order_describe(engine, SEGMENT(entry), s->block, s->warp * LANES + LANE(entry), it->block, it->thread);
    if (s->lines > SEGMENT_LINES) return;
    for (uint32_t i = 0; i < s->lines; i++)
        if (s->async || is_write_to(s, i, region)) it->lines[it->line_count++] = s->line[i].line;
}

/* A launch with another granule has another entry, which may have overwritten this one. */
static struct writer writer_at(struct engine *engine, const struct region *region, uint64_t offset, uint32_t granules) {
    struct writer found = {.kind = NOT_RECORDED};
    int64_t best = -1, unrecorded = (int64_t)region->unrecorded - 1, lost = -1,
            copied = order_copied(engine, region->address + offset);
    uint32_t entry = 0;
    for (uint32_t granule = 1; granule <= granules; granule *= 2) {
        uint32_t last = granules & granule ? region->written[offset / granule] : 0;
        int64_t work = SEGMENT(last) ? order_work(engine, SEGMENT(last)) : -1;
        if (work < 0) continue;
        if (order_granule(engine, (uint32_t)work) != granule) lost = work > lost ? work : lost;
        else if (work > best) {
            best = work;
            entry = last;
        }
    }
    if (copied >= 0 && copied >= best && copied >= lost && copied >= unrecorded) {
        found.kind = COPIED;
        found.work = (uint32_t)copied;
    } else if (best >= 0 && best >= lost && best > unrecorded) set_thread(engine, region, entry, best, &found);
    else if (best < 0 && lost < 0 && unrecorded < 0 && engine->works_from == 0) found.kind = NOBODY;
    return found;
}

static struct writer writer_of(struct engine *engine, uint64_t address, uint32_t granules) {
    const struct region *region = region_of(engine, address);
    if (!region || !region->written || atomic_load(&engine->next_segment) >= MOST_SEGMENTS)
        return (struct writer){.kind = NOT_RECORDED};
    return writer_at(engine, region, address - region->address, granules);
}

/* Of checked launches in this call. */
void engine_writers(struct engine *engine, const uint64_t *addresses, uint32_t count, struct writer *into) {
    uint32_t granules = order_granules(engine);
    for (uint32_t i = 0; i < count; i++) into[i] = writer_of(engine, addresses[i], granules);
}

void engine_writing_blocks(struct engine *engine, const uint64_t *addresses, uint32_t count, uint32_t (*into)[5]) {
    uint32_t granules = order_granules(engine);
    for (uint32_t i = 0; i < count; i++) {
        struct writer it = writer_of(engine, addresses[i], granules);
        into[i][0] = it.kind;
        into[i][1] = it.work;
        memcpy(&into[i][2], it.block, sizeof it.block);
    }
}

/* 1 per element that this call read, else 0. Returns 0 if unknown. */
uint32_t engine_read(struct engine *engine, uint64_t address, uint64_t size, uint64_t count, uint8_t *into) {
    const struct region *region = region_of(engine, address);
    uint32_t granule = order_granule_of_reads(engine);
    if (!region || !region->read || region->unnoted || granule == 0 || size == 0 ||
            atomic_load(&engine->next_segment) >= MOST_SEGMENTS ||
            count > (region->size - (address - region->address)) / size)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = address - region->address + i * size;
        into[i] = 0;
        for (uint64_t g = first / granule; g <= (first + size - 1) / granule && !into[i]; g++)
            into[i] = SEGMENT(region->read[g]) != 0 && order_work(engine, SEGMENT(region->read[g])) >= 0;
    }
    return 1;
}
