/* Bulk and tensor copies (TMA): one thread starts them, the multiprocessor finishes them.
 *
 * They happen as late as possible: at a wait for their mbarrier or, to global memory, for their group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "described.h"
#include "numbers.h"

#define MOST_TRANSFERS 65536u
#define NO_TYPE 0xffu
#define MOST_TRANSFER_BYTES (64u << 20)
#define MAP_SIGNATURE 0x70616d726f736e74ull /* in host/driver.c, too */

/* 128 bytes by host/driver.c and tensormap.replace, which the program may overwrite. Dimensions and rank are stored
 * minus one. */
struct tensor_map {
    uint64_t signature, address, strides[4];
    uint32_t sizes[DIMENSIONS];
    uint16_t box[DIMENSIONS];
    uint8_t steps[DIMENSIONS], type, rank, swizzle, fill, rest[39];
};
static const uint8_t TYPE_BYTES[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4}; /* by CUtensorMapDataType */
/* What one copy moves. */
struct part {
    struct tensor_map map;
    int64_t at[DIMENSIONS];
    uint32_t counts[DIMENSIONS], element;
    uint64_t bytes;
    bool stores;
};

static uint64_t value_of(struct warp *w, const struct operand *it, int lane) {
    uint64_t base = it->unit == NONE ? 0 : it->wide ? u64_of(w, it->unit)[lane] : u32_of(w, it->unit)[lane];
    return it->wide || it->unit == NONE ? base + (uint64_t)(int64_t)it->at
                                        : (uint32_t)(base + (uint64_t)(int64_t)it->at);
}

static uint32_t swizzle_of(const struct tensor_map *map) {
    return map->swizzle == 1 ? 1 : map->swizzle == 2 ? 3 : map->swizzle == 3 ? 7 : 0;
}
static uint64_t swizzled(uint64_t offset, uint32_t mask) { return offset ^ ((offset >> 7 & mask) << 4); }

/* False: a fault was recorded. */
static bool part_of(struct warp *w, const struct row *r, const struct bulk *bulk, const struct operand *where, int lane,
        bool stores, struct part *part) {
    struct span span;
    uint64_t address = value_of(w, where, lane);
    if (!span_of(w, r, address, sizeof part->map, 64, GENERIC, lane, false, &span)) return false;
    struct tensor_map *map = &part->map;
    memcpy(map, span.data + span.offset, sizeof *map);
    map->rank++;
    bool good = map->signature == MAP_SIGNATURE && map->rank == bulk->rank && map->type < sizeof TYPE_BYTES &&
            map->swizzle <= 3;
    part->element = good ? TYPE_BYTES[map->type] : 1;
    part->bytes = part->element;
    for (uint32_t i = 0; good && i < map->rank; i++) {
        good = map->box[i] >= 1 && map->box[i] <= 256 && map->steps[i] >= 1 && map->steps[i] <= 8;
        if (!good) break;
        part->counts[i] = (map->box[i] + map->steps[i] - 1u) / map->steps[i];
        part->bytes *= part->counts[i];
        part->at[i] = (int32_t)value_of(w, &bulk->coordinates[i], lane);
    }
    if (!good) {
        fault(w, r, BAD_DESCRIPTOR, lane, span.region, (int64_t)span.offset, sizeof *map, false);
        return false;
    }
    /* Like an H100 (benchmarks/gpu/hopper.py). */
    int64_t first = part->at[0] * part->element;
    if (first % 16 && map->steps[0] == 1) {
        fault(w, r, BAD_COORDINATE, lane, NULL, first, 16, false);
        return false;
    }
    for (uint32_t i = 0; stores && i < map->rank; i++)
        if (part->at[i] < 0) {
            fault(w, r, BAD_COORDINATE, lane, NULL, part->at[i], 0, true);
            return false;
        }
    part->stores = stores;
    return true;
}

struct line {
    uint64_t address, at, bytes;
    uint32_t skip, elements;
    bool inside;
};
/* Along the innermost dimension. ``index``: of the others. */
static struct line line_of(const struct part *part, const uint32_t *index, uint64_t row) {
    const struct tensor_map *map = &part->map;
    struct line line = {.address = map->address, .at = row * part->counts[0] * part->element, .inside = true};
    for (uint32_t i = 1; i < map->rank; i++) {
        int64_t at = part->at[i] + (int64_t)index[i] * map->steps[i];
        if (at < 0 || at > map->sizes[i]) line.inside = false;
        else line.address += (uint64_t)at * map->strides[i - 1];
    }
    int64_t step = map->steps[0], first = part->at[0], size = (int64_t)map->sizes[0] + 1;
    int64_t skip = first < 0 ? (-first + step - 1) / step : 0;
    int64_t end = first >= size ? 0 : (size - first + step - 1) / step;
    /* They end at a multiple of 16 bytes, not at the tensor's end. */
    if (part->stores && step == 1 && end > 0) end = ((end * part->element + 15) & ~(int64_t)15) / part->element;
    if (end > part->counts[0]) end = part->counts[0];
    if (end <= skip) line.inside = false;
    if (!line.inside) return line;
    line.skip = (uint32_t)skip;
    line.elements = (uint32_t)(end - skip);
    line.address += (uint64_t)(first + skip * step) * part->element;
    line.bytes = (uint64_t)(line.elements - 1) * (uint64_t)step * part->element + part->element;
    return line;
}
static uint64_t rows_of(const struct part *part) { return part->bytes / ((uint64_t)part->counts[0] * part->element); }
static void next_index(const struct part *part, uint32_t *index) {
    for (uint32_t i = 1; i < part->map.rank; i++) {
        if (++index[i] < part->counts[i]) return;
        index[i] = 0;
    }
}

static struct transfer *transfer_new(
        struct warp *w, const struct row *r, struct block *block, int lane, uint64_t bytes) {
    if (block->transfer_count >= MOST_TRANSFERS || block->transfer_bytes + bytes > MOST_TRANSFER_BYTES) {
        fault(w, r, LIMIT, lane, NULL, 0, 0, false);
        return NULL;
    }
    if (block->transfer_count == block->transfer_room) {
        struct transfer *more = grown(block->transfers, &block->transfer_room, 32, sizeof *more);
        if (!more) {
            out_of_memory(w->block->launch);
            return NULL;
        }
        block->transfers = more;
    }
    struct transfer *made = &block->transfers[block->transfer_count];
    *made = (struct transfer){.warp = w, .line = r->line, .lane = (uint32_t)lane};
    if (bytes && !(made->data = allocate(1, bytes))) {
        out_of_memory(w->block->launch);
        return NULL;
    }
    block->transfer_count++;
    block->transfer_bytes += bytes;
    return made;
}

void bulk_forget(struct block *block) {
    for (uint32_t i = 0; i < block->transfer_count; i++) free(block->transfers[i].data);
    block->transfer_count = 0;
    block->transfer_bytes = 0;
}

/* Global bytes, and which were written. */
static bool take(struct warp *w, const struct row *r, uint64_t address, uint64_t size, uint64_t align, int lane,
        uint32_t segment, uint8_t *into, uint8_t *valid) {
    struct span span;
    if (!span_of(w, r, address, size, align, GLOBAL, lane, false, &span)) return false;
    memcpy(into, span.data + span.offset, size);
    if (span.valid) memcpy(valid, span.valid + span.offset, size);
    else memset(valid, 1, size);
    check_async(w, r, span.region, span.offset, size, lane, false, false, segment);
    return true;
}

static bool take_part(struct warp *w, const struct row *r, const struct part *part, int lane, uint32_t segment,
        uint8_t *into, uint64_t *cycle) {
    uint32_t index[DIMENSIONS] = {0}, element = part->element, step = part->map.steps[0];
    static const uint8_t NANS[2][8] = {
            {0, 0x7e, 0, 0x7e, 0, 0x7e, 0, 0x7e}, {0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f}};
    uint8_t *room = allocate(2 * 256, 8 * 8), *valid = into + part->bytes;
    bool good = room != NULL;
    if (!good) out_of_memory(w->block->launch);
    memset(valid, 1, part->bytes);
    /* float32's is 7fff7fff, too */
    if (part->map.fill)
        for (uint64_t i = 0; i < part->bytes; i++) into[i] = NANS[part->map.type != 6][i % 8];
    for (uint64_t row = 0; good && row < rows_of(part); row++, next_index(part, index)) {
        struct line line = line_of(part, index, row);
        if (!line.inside) continue;
        good = take(w, r, line.address, line.bytes, 1, lane, segment, room, room + line.bytes);
        if (!good) break;
        if (w->block->launch->profile) {
            uint64_t at = profile_bulk(w, line.address, line.bytes, READS, true);
            if (at > *cycle) *cycle = at;
        }
        uint64_t to = line.at + (uint64_t)line.skip * element;
        for (uint32_t i = 0; i < line.elements; i++) {
            memcpy(into + to + i * element, room + (uint64_t)i * step * element, element);
            memcpy(valid + to + i * element, room + line.bytes + (uint64_t)i * step * element, element);
        }
    }
    free(room);
    return good;
}

/* In shared memory; in chunks of 16 bytes if swizzled. */
static bool checked_into(struct warp *w, const struct row *r, struct block *owner, uint64_t offset, uint64_t size,
        uint32_t mask, int lane, bool writes, bool atomic, uint32_t segment) {
    struct region *region = &owner->shared_region;
    if (offset > region->size || region->size - offset < size) {
        fault(w, r, OUT_OF_BOUNDS, lane, region, (int64_t)offset, (uint32_t)size, writes);
        return false;
    }
    if (!mask) {
        check_async(w, r, region, offset, size, lane, writes, atomic, segment);
        return true;
    }
    for (uint64_t i = 0; i < size; i += 16) {
        uint64_t at = swizzled(offset + i, mask), some = size - i < 16 ? size - i : 16;
        if (at + some > region->size) {
            fault(w, r, OUT_OF_BOUNDS, lane, region, (int64_t)at, 16, writes);
            return false;
        }
        check_async(w, r, region, at, some, lane, writes, atomic, segment);
    }
    return true;
}

/* By the map's type; NO_TYPE: none. */
static uint32_t reduced(const struct bulk *bulk, const struct part *part) {
    static const uint8_t TYPES[] = {NO_TYPE, NO_TYPE, TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64, TYPE_F16, TYPE_F32,
            TYPE_F64, TYPE_BF16, TYPE_F32, TYPE_F32, TYPE_F32};
    if (!bulk->rank || !bulk->how) return bulk->how;
    uint32_t type = TYPES[part->map.type];
    return type == NO_TYPE ? type : ((bulk->how - 1) & 255) + 1 + (type << 8);
}

static uint32_t type_bytes(uint32_t type) {
    return type == TYPE_U64 || type == TYPE_S64 || type == TYPE_F64     ? 8
            : type == TYPE_F16 || type == TYPE_BF16 || type == TYPE_U16 ? 2
                                                                        : 4;
}

static void put(uint8_t *to, const uint8_t *from, uint64_t size, uint32_t how) {
    if (how == 0) {
        memcpy(to, from, size);
        return;
    }
    uint32_t operation = (how - 1) & 255, type = (how - 1) >> 8, step = type_bytes(type);
    for (uint64_t i = 0; i + step <= size; i += step) {
        uint64_t value = 0;
        memcpy(&value, from + i, step);
#define CHANGE(T) \
    do { \
        T seen = __atomic_load_n((T *)(to + i), __ATOMIC_RELAXED); \
        while (!__atomic_compare_exchange_n((T *)(to + i), &seen, (T)memory_changed(operation, type, seen, value, 0), \
                true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {} \
    } while (0)
        if (step == 4) CHANGE(uint32_t);
        else if (step == 8) CHANGE(uint64_t);
        else CHANGE(uint16_t);
    }
}

static int into_block(struct warp *w, const struct row *r, const struct bulk *bulk, struct block *owner, uint64_t to,
        struct mbarrier *barrier, const struct part *part, uint64_t from, uint64_t size, int lane) {
    uint32_t number = (uint32_t)(barrier - owner->mbarriers), mask = part ? swizzle_of(&part->map) : 0;
    uint32_t segment = check_async_segment(w, r, clock_mbarrier_slot(owner, number), barrier->completed);
    if (!checked_into(w, r, owner, to, size, mask, lane, true, bulk->how != 0, segment)) return 1;
    bool late = bulk->way == SHARED_TO_SHARED;
    struct transfer *it = transfer_new(w, r, owner, lane, late ? 0 : 2 * size);
    if (!it) return 1;
    it->to = owner;
    it->offset = to;
    it->size = size;
    it->mbarrier = number;
    it->phase = barrier->completed;
    it->swizzle = mask;
    it->how = bulk->how;
    it->cycle = w->timing.clock;
    if (late) {
        struct span span;
        if (!span_of(w, r, from, size, 16, SHARED, lane, false, &span)) return 1;
        it->from = span.owner;
        it->from_offset = span.offset;
        check_async(w, r, span.region, span.offset, size, lane, false, false, segment);
        if (w->block->launch->profile) it->cycle = profile_bulk(w, 0, size, READS, false);
        return 0;
    }
    if (!size) return 0; /* and there is no data */
    if (part) return !take_part(w, r, part, lane, segment, it->data, &it->cycle);
    if (w->block->launch->profile) it->cycle = profile_bulk(w, from, size, READS, true);
    return !take(w, r, from, size, 16, lane, segment, it->data, it->data + size);
}

static int into_shared(struct warp *w, const struct row *r, const struct bulk *bulk, int lane) {
    struct part part;
    struct block *owner;
    struct row barriers = *r;
    barriers.flags |= CLUSTER;
    if (bulk->rank && !part_of(w, r, bulk, &bulk->from, lane, false, &part)) return 1;
    uint64_t size = bulk->rank ? part.bytes : (uint32_t)value_of(w, &bulk->size, lane),
             to = value_of(w, &bulk->to, lane), from = value_of(w, &bulk->from, lane);
    uint64_t at = value_of(w, &bulk->mbarrier, lane);
    struct span span;
    if (!span_of(w, r, to & 0xffffffff, size, bulk->rank ? 128 : 16, SHARED, lane, true, &span)) return 1;
    if (size % 16) {
        fault(w, r, MISALIGNED, lane, span.region, (int64_t)size, 16, true);
        return 1;
    }
    uint32_t ranks = bulk->multicast ? u32_of(w, bulk->ranks.unit)[lane] & 0xffff : 1u << span.owner->rank;
    for (; ranks; ranks &= ranks - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(ranks);
        if (rank >= w->block->cluster->size) {
            fault(w, r, OUT_OF_BOUNDS, lane, span.region, (int64_t)span.offset, (uint32_t)size, true);
            return 1;
        }
        struct block *target = w->block->cluster->blocks[rank];
        uint64_t barrier_at = bulk->multicast ? (uint64_t)(rank + 1) << 24 | (at & 0xffffff) : at & 0xffffffff;
        struct mbarrier *barrier = mbarrier_of(w, &barriers, barrier_at, SHARED, lane, &owner);
        if (!barrier) return 1;
        if (target->done)
            report(w, r, CLUSTER_EXITED, lane, &target->shared_region, (int64_t)span.offset, (uint32_t)size, true,
                    NULL);
        if (owner != target) {
            fault(w, r, BAD_DESCRIPTOR, lane, &owner->shared_region, (int64_t)barrier->offset, 8, true);
            return 1;
        }
        if (into_block(w, r, bulk, target, span.offset, barrier, bulk->rank ? &part : NULL, from, size, lane)) return 1;
    }
    return 0;
}

static int comes_to_pass(struct transfer *it) {
    struct warp *w = it->warp;
    struct row row = {.line = it->line, .space = SHARED, .guard = NONE, .spare = NONE};
    struct region *region = &it->to->shared_region;
    uint8_t *valid = region->valid;
    const uint8_t *data = it->data, *data_valid = data ? data + it->size : NULL;
    if (it->from) {
        data = it->from->shared + it->from_offset;
        data_valid = it->from->shared_valid ? it->from->shared_valid + it->from_offset : NULL;
    }
    for (uint64_t i = 0, some; i < it->size; i += some) { /* bounds were checked at the start */
        some = it->swizzle ? (it->size - i < 16 ? it->size - i : 16) : it->size;
        uint64_t at = swizzled(it->offset + i, it->swizzle);
        put(region->data + at, data + i, some, it->how);
        if (!valid || it->how) continue;
        if (data_valid) memcpy(valid + at, data_valid + i, some);
        else memset(valid + at, 1, some);
    }
    struct mbarrier *barrier = &it->to->mbarriers[it->mbarrier];
    if (barrier->completed != it->phase)
        report(w, &row, MBARRIER_BYTES, (int)it->lane, NULL, -(int64_t)it->size, 0, true, NULL);
    if (it->cycle > barrier->pending_cycle) barrier->pending_cycle = it->cycle;
    return mbarrier_completes(w, &row, it->to, barrier, (int64_t)it->size, (int)it->lane);
}

int bulk_arrives(struct warp *w, struct block *owner, uint32_t mbarrier) {
    (void)w;
    uint32_t kept = 0, count = owner->transfer_count;
    int wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct transfer it = owner->transfers[i];
        if (wrong || it.to == NULL || it.mbarrier != mbarrier) {
            owner->transfers[kept++] = it;
            continue;
        }
        wrong = comes_to_pass(&it);
        owner->transfer_bytes -= it.data ? 2 * it.size : 0;
        free(it.data);
    }
    owner->transfer_count = kept;
    return wrong;
}

/* data: NULL, or a tensor's part */
static int out_of_shared(struct warp *w, const struct row *r, const struct bulk *bulk, int lane) {
    struct part part = {0};
    struct span span, target;
    uint32_t reads = check_async_segment(w, r, clock_slot(w, READS_SLOT), w->bulk_groups),
             writes = check_async_segment(w, r, clock_slot(w, WRITES_SLOT), w->bulk_groups);
    if (bulk->rank && !part_of(w, r, bulk, &bulk->to, lane, true, &part)) return 1;
    uint64_t size = bulk->rank ? part.bytes : (uint32_t)value_of(w, &bulk->size, lane),
             from = value_of(w, &bulk->from, lane), to = value_of(w, &bulk->to, lane);
    uint32_t mask = bulk->rank ? swizzle_of(&part.map) : 0;
    if (!span_of(w, r, from & 0xffffffff, size, bulk->rank ? 128 : 16, SHARED, lane, false, &span)) return 1;
    if (size % 16) {
        fault(w, r, MISALIGNED, lane, span.region, (int64_t)size, 16, false);
        return 1;
    }
    if (!checked_into(w, r, span.owner, span.offset, size, mask, lane, false, false, reads)) return 1;
    struct transfer *it = transfer_new(w, r, w->block, lane, bulk->rank ? sizeof part : 0);
    if (!it) return 1;
    it->from = span.owner;
    it->from_offset = span.offset;
    it->offset = to;
    it->size = size;
    it->phase = w->bulk_groups;
    it->swizzle = mask;
    it->how = reduced(bulk, &part);
    it->mbarrier = NONE;
    if (it->how == NO_TYPE) {
        fault(w, r, BAD_DESCRIPTOR, lane, NULL, 0, 0, false);
        return 1;
    }
    if (!bulk->rank) {
        if (!span_of(w, r, to, size, 16, GLOBAL, lane, true, &target)) return 1;
        check_async(w, r, target.region, target.offset, size, lane, true, bulk->how != 0, writes);
        if (w->block->launch->profile) it->cycle = profile_bulk(w, to, size, bulk->how ? UPDATES : WRITES, true);
        return 0;
    }
    memcpy(it->data, &part, sizeof part);
    uint32_t index[DIMENSIONS] = {0};
    for (uint64_t row = 0; row < rows_of(&part); row++, next_index(&part, index)) {
        struct line line = line_of(&part, index, row);
        if (!line.inside) continue;
        if (!span_of(w, r, line.address, line.bytes, part.element, GLOBAL, lane, true, &target)) return 1;
        if (w->block->launch->profile)
            it->cycle = profile_bulk(w, line.address, line.bytes, bulk->how ? UPDATES : WRITES, true);
        for (uint32_t i = 0; i < line.elements; i++) {
            uint64_t some = part.map.steps[0] == 1 ? line.bytes : part.element;
            check_async(w, r, target.region, target.offset + (uint64_t)i * part.map.steps[0] * part.element, some, lane,
                    true, bulk->how != 0, writes);
            if (part.map.steps[0] == 1) break;
        }
    }
    return 0;
}

static int leaves(struct transfer *it) {
    struct warp *w = it->warp;
    struct row row = {.line = it->line, .space = GLOBAL, .guard = NONE, .spare = NONE};
    struct block *from = it->from;
    struct span span;
    int lane = (int)it->lane;
    bool bad = false;
    if (!it->data) {
        if (!span_of(w, &row, it->offset, it->size, 16, GLOBAL, lane, true, &span)) return 1;
        put(span.data + span.offset, from->shared + it->from_offset, it->size, it->how);
        if (span.valid && !it->how) {
            if (from->shared_valid) memcpy(span.valid + span.offset, from->shared_valid + it->from_offset, it->size);
            else memset(span.valid + span.offset, 1, it->size);
        }
        bad = from->shared_valid && memchr(from->shared_valid + it->from_offset, 0, it->size);
    } else {
        struct part part;
        memcpy(&part, it->data, sizeof part);
        uint32_t index[DIMENSIONS] = {0}, element = part.element;
        for (uint64_t i = 0; i < rows_of(&part); i++, next_index(&part, index)) {
            struct line line = line_of(&part, index, i);
            if (!line.inside) continue;
            if (!span_of(w, &row, line.address, line.bytes, element, GLOBAL, lane, true, &span)) return 1;
            for (uint32_t k = 0; k < line.elements; k++) {
                uint64_t at = swizzled(it->from_offset + line.at + (uint64_t)(line.skip + k) * element, it->swizzle),
                         to = span.offset + (uint64_t)k * part.map.steps[0] * element;
                put(span.data + to, from->shared + at, element, it->how);
                if (!from->shared_valid) continue;
                bool written = memchr(from->shared_valid + at, 0, element) == NULL;
                bad |= !written;
                if (span.valid && !it->how) memset(span.valid + to, written, element);
            }
        }
    }
    if (bad && w->block->launch->check && !check_left_out(w)) report(w, &row, UNWRITTEN, lane, NULL, 0, 0, false, NULL);
    return 0;
}

int bulk_commit(struct warp *w) {
    w->bulk_groups++;
    return 0;
}

static int groups_leave(struct warp *w, uint32_t before) {
    struct block *block = w->block;
    uint32_t kept = 0, count = block->transfer_count;
    int wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct transfer it = block->transfers[i];
        if (wrong || it.to || it.warp != w || it.phase >= before) {
            block->transfers[kept++] = it;
            continue;
        }
        wrong = leaves(&it);
        if (it.cycle > w->timing.clock && block->launch->profile) w->timing.clock = it.cycle;
        block->transfer_bytes -= it.data ? sizeof(struct part) : 0;
        free(it.data);
    }
    block->transfer_count = kept;
    return wrong;
}

int bulk_wait(struct warp *w, const struct row *r, uint32_t left, bool reads_only) {
    (void)r;
    uint32_t before = w->bulk_groups > left ? w->bulk_groups - left : 0;
    if (groups_leave(w, before)) return 1;
    clock_reaches(w, clock_slot(w, READS_SLOT), before);
    if (!reads_only) clock_reaches(w, clock_slot(w, WRITES_SLOT), before);
    return 0;
}

int bulk_exits(struct warp *w, const struct row *r, uint32_t mask) {
    struct block *block = w->block;
    bool all = (w->exited | mask) == w->existing;
    for (uint32_t i = 0; all && i < block->transfer_count; i++) {
        struct transfer *it = &block->transfers[i];
        if (it->to || it->warp != w) continue;
        struct row row = *r;
        row.line = it->line;
        report(w, &row, BULK_UNWAITED, (int)it->lane, NULL, 0, (uint32_t)it->size, false, NULL);
    }
    return all ? groups_leave(w, UINT32_MAX) : 0;
}

int bulk_copy(struct warp *w, const struct row *r, uint32_t mask) {
    const struct bulk *bulk = (const struct bulk *)((const uint32_t *)w->pool + r->imm);
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        if (bulk->way == SHARED_TO_GLOBAL ? out_of_shared(w, r, bulk, lane) : into_shared(w, r, bulk, lane)) return 1;
    }
    return 0;
}
