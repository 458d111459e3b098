/* Loads, stores and atomics, with every address looked up. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "numbers.h"

#define FAR (64ull << 20)
#define FAR_IN_LARGE (32ull << 30) /* an index that overflows 32 bits leads this far */

/* For a message, the nearest one if none has the address. */
static struct region *nearest(struct engine *engine, uint64_t address) {
    struct region *best = NULL;
    uint64_t least = ~0ull;
    for (uint32_t i = 0; i < engine->region_count; i++) {
        struct region *it = &engine->regions[i];
        uint64_t end = it->address + it->size;
        uint64_t away = address < it->address ? it->address - address : address >= end ? address - end : 0;
        if (away < least) {
            least = away;
            best = it;
        }
    }
    return best;
}

static void no_memory(struct warp *w, const struct row *r, uint64_t address, uint32_t size, int lane, bool writes) {
    struct region *near = nearest(w->block->launch->engine, address);
    bool freed = near && near->freed && address - near->address < near->size;
    uint64_t away = !near             ? ~0ull
            : address < near->address ? near->address - address
                                      : address - near->address - near->size;
    if (!freed && away > (near && near->lazy ? FAR_IN_LARGE : FAR)) near = NULL; /* no neighbour */
    fault(w, r, freed ? USE_AFTER_FREE : OUT_OF_BOUNDS, lane, near,
            near ? (int64_t)(address - near->address) : (int64_t)address, size, writes);
}

static int window_of(uint64_t address) {
    return address >= FUNCTION_BASE  ? GENERIC
            : address >= LOCAL_BASE  ? LOCAL
            : address >= SHARED_BASE ? SHARED
                                     : GLOBAL;
}

static bool place_in_cluster(struct warp *w, const struct row *r, const uint64_t *address, uint32_t mask, uint32_t size,
        bool writes, struct place *p) {
    int first = __builtin_ctz(mask);
    uint64_t rank = address[first] >> 24;
    struct block *owner = rank && r->space == SHARED && !(r->flags & CLUSTER) ? NULL : cluster_block(w, address[first]);
    if (owner == NULL) {
        fault(w, r, OUT_OF_BOUNDS, first, &w->block->shared_region, (int64_t)address[first], size, writes);
        return false;
    }
    if (owner->done)
        report(w, r, CLUSTER_EXITED, first, &owner->shared_region, (int64_t)(address[first] & 0xffffff), size, writes,
                NULL);
    p->region = &owner->shared_region;
    p->data = owner->shared;
    p->valid = owner->shared_valid;
    p->mask = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        if (address[i] >> 24 != rank) continue;
        uint64_t at = address[i] & 0xffffff, limit = owner->shared_region.size;
        if ((at & (size - 1)) != 0 || at >= limit || limit - at < size) {
            fault(w, r, at & (size - 1) ? MISALIGNED : OUT_OF_BOUNDS, i, p->region, (int64_t)at, size, writes);
            return false;
        }
        p->offsets[i] = at;
        p->mask |= 1u << i;
    }
    return true;
}

bool place_of(struct warp *w, const struct row *r, const uint64_t *address, uint32_t mask, int space, uint32_t size,
        bool writes, struct place *p) {
    struct block *block = w->block;
    int first = __builtin_ctz(mask);
    uint32_t align = size - 1;
    if (space == GENERIC || space == GLOBAL || space == CONST) {
        int window = window_of(address[first]);
        if (window == GENERIC || (window != GLOBAL && space != GENERIC)) {
            no_memory(w, r, address[first], size, first, writes);
            return false;
        }
        if (window != GLOBAL) {
            uint64_t inner[LANES];
            uint32_t same = 0;
            for (int i = 0; i < LANES; i++) {
                inner[i] = address[i] & 0xffffffffull;
                same |= (uint32_t)(window_of(address[i]) == window) << i;
            }
            return place_of(w, r, inner, mask & same, window, size, writes, p);
        }
        struct region *region = region_of(block->launch->engine, address[first]);
        if (region == NULL || region->freed) {
            no_memory(w, r, address[first], size, first, writes);
            return false;
        }
        if (writes && region->constant) {
            fault(w, r, READ_ONLY, first, region, (int64_t)(address[first] - region->address), size, true);
            return false;
        }
        if (!region_reached(block->launch->engine, region)) {
            fault(w, r, NO_PEER_ACCESS, first, region, (int64_t)(address[first] - region->address), size, writes);
            return false;
        }
        p->region = region;
        p->data = region->data;
        p->valid = region->valid;
        uint32_t inside = 0, bad = 0;
        for (int i = 0; i < LANES; i++) {
            p->offsets[i] = address[i] - region->address;
            inside |= (uint32_t)(p->offsets[i] < region->size) << i;
            bad |= (uint32_t)((address[i] & align) != 0 || p->offsets[i] + size > region->size) << i;
        }
        p->mask = mask & inside;
        if (bad & p->mask) {
            int lane = __builtin_ctz(bad & p->mask);
            fault(w, r, (address[lane] & align) ? MISALIGNED : OUT_OF_BOUNDS, lane, region, (int64_t)p->offsets[lane],
                    size, writes);
            return false;
        }
        if (region->lazy) {
            struct launch *launch = block->launch;
            for (uint32_t left = p->mask; left; left &= left - 1)
                region_fill(launch->engine, region, p->offsets[__builtin_ctz(left)], size);
            if (launch->sample && atomic_load(&launch->engine->drawn_bytes) > launch->sample->most_bytes)
                atomic_store(&launch->stop, OVER_BUDGET);
        }
        if (region->heap) return heap_allows(w, r, region, p->offsets, p->mask, size, writes);
        return true;
    }
    if (space == SHARED && (block->launch->cluster_size > 1))
        return place_in_cluster(w, r, address, mask, size, writes, p);
    uint64_t limit = space == SHARED ? block->shared_region.size : block->launch->kernel->local_bytes;
    p->region = space == SHARED ? &block->shared_region : NULL;
    p->data = space == SHARED ? block->shared : w->local;
    p->valid = space == SHARED ? block->shared_valid : w->local_valid;
    p->mask = mask;
    uint32_t bad = 0;
    const struct kernel *kernel = block->launch->kernel;
    if (space == SHARED && r->spare < kernel->array_count && block->launch->check) {
        uint64_t start = kernel->arrays[2 * r->spare], bytes = kernel->arrays[2 * r->spare + 1];
        for (int i = 0; i < LANES; i++) bad |= (uint32_t)(address[i] < start || address[i] - start + size > bytes) << i;
        if (bad & mask) {
            int lane = __builtin_ctz(bad & mask);
            struct region array = {.number = SHARED_ARRAY | r->spare};
            fault(w, r, OUT_OF_BOUNDS, lane, &array, (int64_t)(int32_t)(uint32_t)address[lane], size, writes);
            return false;
        }
    }
    for (int i = 0; i < LANES; i++) {
        p->offsets[i] = address[i] + (space == LOCAL ? limit * (uint64_t)i : 0);
        bad |= (uint32_t)((address[i] & align) != 0 || address[i] >= limit || limit - address[i] < size) << i;
    }
    if (bad & mask) {
        int lane = __builtin_ctz(bad & mask);
        fault(w, r, (address[lane] & align) ? MISALIGNED : OUT_OF_BOUNDS, lane, p->region, (int64_t)address[lane], size,
                writes);
        return false;
    }
    return true;
}

bool tile_of(struct warp *w, const struct row *r, uint64_t address, bool writes, struct tile *tile) {
    struct block *block = w->block;
    struct launch *launch = block->launch;
    uint64_t extent = (tile->lines - 1) * tile->stride + tile->bytes;
    uint32_t granule = launch->kernel->granule;
    int space = r->space == CONST ? GLOBAL : r->space, window = space == SHARED ? SHARED : window_of(address);
    if (space != SHARED && space != GLOBAL && space != GENERIC) return false;
    if (space != GENERIC && window != space) return false;
    if (window == SHARED) {
        if (space == GENERIC) address &= 0xffffffffull;
        if (launch->cluster_size > 1 || r->spare < launch->kernel->array_count) return false;
        tile->region = &block->shared_region;
        tile->data = block->shared;
        tile->valid = block->shared_valid;
        tile->offset = address;
    } else if (window == GLOBAL) {
        struct region *region = region_of(launch->engine, address);
        if (!region || region->freed || region->lazy || region->heap || (writes && region->constant) ||
                !region_reached(launch->engine, region))
            return false;
        tile->region = region;
        tile->data = region->data;
        tile->valid = region->valid;
        tile->offset = address - region->address;
    } else return false;
    uint64_t size = tile->region->size;
    if (tile->offset >= size || size - tile->offset < extent || (address | tile->stride) & (tile->size - 1))
        return false;
    if (!launch->check) return true;
    if ((tile->offset | tile->stride | tile->bytes) & (granule - 1)) return false;
    for (uint32_t line = 0; line < tile->lines && tile->valid && !writes; line++)
        if (memchr(tile->valid + tile->offset + line * tile->stride, 0, tile->bytes)) return false;
    return true;
}

const uint64_t *row_addresses(
        struct warp *w, const struct row *r, uint32_t operand, int bit, int64_t offset, uint64_t into[LANES]) {
    if (operand == NONE) {
        for (int i = 0; i < LANES; i++) into[i] = (uint64_t)offset;
        return into;
    }
    bool wide = r->wide >> bit & 1;
    const uint64_t *base = wide_of(w, operand, wide, into);
    if (offset == 0) return base;
    for (int i = 0; i < LANES; i++)
        into[i] = wide ? base[i] + (uint64_t)offset : (uint32_t)(base[i] + (uint64_t)offset);
    return into;
}

/* Each byte of ``valid`` is 0 or 1. */
static uint32_t never_written(const uint8_t *valid, const uint64_t *offsets, uint32_t mask, uint32_t size) {
    uint32_t found = 0;
    if (size == 4 && mask == EVERY) {
        for (int i = 0; i < LANES; i++) {
            uint32_t four;
            memcpy(&four, valid + offsets[i], 4);
            found |= (uint32_t)(four != 0x01010101u) << i;
        }
        return found;
    }
    if (size == 4) {
        for (int i = 0; i < LANES; i++) {
            if (!(mask >> i & 1)) continue;
            uint32_t four;
            memcpy(&four, valid + offsets[i], 4);
            found |= (uint32_t)(four != 0x01010101u) << i;
        }
        return found;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        if (memchr(valid + offsets[i], 0, size)) found |= 1u << i;
    }
    return found;
}

static void profiled(struct warp *w, const struct row *r, const struct place *p, uint32_t size, enum access access) {
    if (p->region == NULL) {
        profile_local(w, r, p->offsets, p->mask, size, access);
        return;
    }
    if (p->region->constant) {
        profile_constant(w, r, p->offsets, p->mask);
        return;
    }
    if (p->region->owner) {
        profile_shared(w, r, p->offsets, p->mask, size, access);
        if (p->region->owner != w->block) profile_remote(w, r, p->mask, size, access);
        return;
    }
    uint64_t addresses[LANES];
    for (int i = 0; i < LANES; i++) addresses[i] = p->region->address + p->offsets[i];
    profile_global(w, r, addresses, p->mask, size, access);
}

/* The most frequent load, unchecked and uncounted: words of the block's shared memory. False: it needs more. */
static inline bool load_shared_words(struct warp *w, const struct row *r, uint32_t mask) {
    struct block *block = w->block;
    uint64_t limit = block->shared_region.size;
    uint32_t offsets[LANES], add = (uint32_t)r->imm, bad = 0, apart = 0, *out = u32_of(w, r->d);
    const uint32_t *base = u32_of(w, r->a);
    if (limit < 4 || limit >> 32) return false;
    for (int i = 0; i < LANES; i++) offsets[i] = base[i] + add;
    for (int i = 0; i < LANES; i++) {
        bad |= (uint32_t)(offsets[i] > (uint32_t)limit - 4) | (offsets[i] & 3);
        apart |= offsets[i] ^ offsets[0];
    }
    if (bad) return false;
    if (mask != EVERY)
        for (uint32_t left = mask; left; left &= left - 1) {
            int i = __builtin_ctz(left);
            memcpy(&out[i], block->shared + offsets[i], 4);
        }
    else if (!apart) {
        uint32_t word;
        memcpy(&word, block->shared + offsets[0], 4);
        for (int i = 0; i < LANES; i++) out[i] = word;
    } else {
        const uint32_t *words = (const uint32_t *)block->shared;
        for (int i = 0; i < LANES; i++) out[i] = words[offsets[i] / 4];
    }
    return true;
}

int memory_load(struct warp *w, const struct row *r, uint32_t mask) {
    if (r->space == SHARED && r->size == 4 && r->count == 1 && !(r->wide & 3) && !(r->flags & STRONG) && r->a != NONE &&
            r->d != NONE && !w->block->launch->check && !w->block->launch->profile &&
            w->block->launch->cluster_size == 1 && load_shared_words(w, r, mask))
        return 0;
    uint64_t room[LANES];
    const uint64_t *address = row_addresses(w, r, r->a, 1, r->imm, room);
    uint32_t total = r->size * r->count;
    const uint32_t outs[4] = {r->d, r->b, r->c, r->e};
    bool wide = (r->wide & 1) || r->size == 8, check = w->block->launch->check;
    struct place p;
    while (mask) {
        if (!place_of(w, r, address, mask, r->space, total, false, &p)) return 1;
        mask &= ~p.mask;
        if (w->block->launch->profile) profiled(w, r, &p, total, READS);
        bool row = p.mask == EVERY && p.region && in_a_row(p.offsets, total);
        if (r->size == 4 && r->count == 1 && !wide && row) memcpy(unit_of(w, r->d), p.data + p.offsets[0], UNIT);
        else
            for (uint32_t k = 0; k < r->count; k++) {
                if (outs[k] == NONE) continue;
                const uint8_t *from = p.data + k * r->size;
                if (wide) {
                    uint64_t *out = u64_of(w, outs[k]);
                    for (uint32_t left = p.mask; left; left &= left - 1) {
                        int i = __builtin_ctz(left);
                        const uint8_t *at = from + p.offsets[i];
                        uint64_t value = 0;
                        memcpy(&value, at, r->size);
                        if (r->size < 8 && r->flags & SIGNED)
                            value = (uint64_t)((int64_t)(value << (64 - 8 * r->size)) >> (64 - 8 * r->size));
                        out[i] = value;
                    }
                } else {
                    uint32_t *out = u32_of(w, outs[k]);
                    if (r->size == 4 && p.mask == EVERY)
                        for (int i = 0; i < LANES; i++) memcpy(&out[i], from + p.offsets[i], 4);
                    else if (r->size == 4)
                        for (uint32_t left = p.mask; left; left &= left - 1) {
                            int i = __builtin_ctz(left);
                            memcpy(&out[i], from + p.offsets[i], 4);
                        }
                    else
                        for (uint32_t left = p.mask; left; left &= left - 1) {
                            int i = __builtin_ctz(left);
                            const uint8_t *at = from + p.offsets[i];
                            if (r->size == 2) {
                                uint16_t v;
                                memcpy(&v, at, 2);
                                out[i] = r->flags & SIGNED ? (uint32_t)(int32_t)(int16_t)v : v;
                            } else out[i] = r->flags & SIGNED ? (uint32_t)(int32_t)(int8_t)*at : *at;
                        }
                }
            }
        if (!check) continue;
        if (p.valid && !(row && memchr(p.valid + p.offsets[0], 0, (size_t)total * LANES) == NULL)) {
            for (uint32_t k = 0; k < r->count; k++) {
                uint32_t bad = outs[k] == NONE ? 0 : never_written(p.valid + k * r->size, p.offsets, p.mask, r->size);
                if (bad) check_undefined_read(w, r, outs[k], bad, p.region, (int64_t)p.offsets[__builtin_ctz(bad)]);
            }
        }
        if (p.region && p.region->written && r->flags & STRONG) check_unnoted(w, p.region);
        else if (p.region && p.region->written) check_access(w, r, p.region, p.offsets, p.mask, total, false, false);
    }
    if (r->flags & STRONG) {
        w->looks++;
        w->looked = r->line;
    }
    if (check && r->flags & STRONG && r->space != LOCAL) check_acquire(w);
    return 0;
}

void memory_stored(struct warp *w, uint32_t mask) {
    if (w->block->stored)
        w->block->stored[w->pc] = stored_now(w->block, w->number * LANES + (uint32_t)__builtin_ctz(mask));
}

int memory_store(struct warp *w, const struct row *r, uint32_t mask) {
    uint64_t room[LANES];
    const uint64_t *address = row_addresses(w, r, r->a, 1, r->imm, room);
    uint32_t total = r->size * r->count;
    const uint32_t ins[4] = {r->d, r->b, r->c, r->e};
    bool check = w->block->launch->check;
    if (check && r->flags & RELEASES) check_release(w);
    struct place p;
    while (mask) {
        if (!place_of(w, r, address, mask, r->space, total, true, &p)) return 1;
        mask &= ~p.mask;
        if (w->block->launch->profile) profiled(w, r, &p, total, WRITES);
        if (w->block->worker->watched) progress_stores(w, r, p.data, p.offsets, p.mask);
        else w->moved = true;
        /* before the store: storing an equal value is no race */
        if (check && p.region && p.region->written) {
            if (r->flags & STRONG) check_unrecorded(w, p.region);
            else check_access(w, r, p.region, p.offsets, p.mask, total, true, false);
        }
        bool row = p.mask == EVERY && p.region && in_a_row(p.offsets, total);
        if (r->size == 4 && r->count == 1 && !(r->wide & 1) && row)
            memcpy(p.data + p.offsets[0], unit_of(w, r->d), UNIT);
        else
            for (uint32_t k = 0; k < r->count; k++) {
                const uint8_t *from = unit_of(w, ins[k]);
                uint32_t step = (r->size == 8 || (r->wide & 1)) ? 8 : 4;
                uint8_t *to = p.data + k * r->size;
                for (uint32_t left = p.mask; left; left &= left - 1) {
                    int i = __builtin_ctz(left);
                    memcpy(to + p.offsets[i], from + step * i, r->size);
                }
            }

        if (check) memory_stored(w, p.mask);
        if (check && w->any_undefined && p.region && !p.region->owner)
            for (uint32_t k = 0; k < r->count; k++)
                if (!(ins[k] & CONSTANT) && w->undefined[ins[k]] & p.mask)
                    check_undefined_used(w, r, w->undefined[ins[k]] & p.mask);
        if (!p.valid) continue;
        if (row && !w->any_undefined) memset(p.valid + p.offsets[0], 1, (size_t)total * LANES);
        else
            for (uint32_t k = 0; k < r->count; k++) {
                uint32_t bad = w->any_undefined && !(ins[k] & CONSTANT) ? w->undefined[ins[k]] & p.mask : 0;
                for (uint32_t left = p.mask; left; left &= left - 1) {
                    int i = __builtin_ctz(left);
                    memset(p.valid + p.offsets[i] + k * r->size, !(bad >> i & 1), r->size);
                }
            }
    }
    return 0;
}

uint8_t *memory_at(struct warp *w, const struct row *r, uint64_t address, uint32_t size, int lane, bool writes) {
    struct place p;
    uint64_t all[LANES];
    for (int i = 0; i < LANES; i++) all[i] = address;
    if (!place_of(w, r, all, 1u << lane, r->space, size, writes, &p)) return NULL;
    if (w->block->launch->check && p.region && p.region->written)
        check_access(w, r, p.region, p.offsets, 1u << lane, size, writes, false);
    if (writes && p.valid) memset(p.valid + p.offsets[lane], 1, size);
    return p.data + p.offsets[lane];
}

uint64_t memory_changed(uint32_t how, uint32_t type, uint64_t old, uint64_t b, uint64_t c) {
    switch (how) {
    case ATOMIC_AND: return old & b;
    case ATOMIC_OR: return old | b;
    case ATOMIC_XOR: return old ^ b;
    case ATOMIC_EXCH: return b;
    case ATOMIC_CAS: return old == b ? c : old;
    case ATOMIC_INC: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case ATOMIC_DEC: return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    }
#define PICK(T, x, y) \
    (how == ATOMIC_ADD ? (x) + (y) : how == ATOMIC_MIN ? ((x) < (y) ? (x) : (y)) : ((x) > (y) ? (x) : (y)))
    switch (type) {
    case TYPE_U32: return PICK(uint32_t, (uint32_t)old, (uint32_t)b);
    case TYPE_S32:
        return (uint32_t)(how == ATOMIC_ADD ? (int32_t)((uint32_t)old + (uint32_t)b)
                                            : PICK(int32_t, (int32_t)old, (int32_t)b));
    case TYPE_U64: return PICK(uint64_t, old, b);
    case TYPE_S64: return how == ATOMIC_ADD ? old + b : (uint64_t)PICK(int64_t, (int64_t)old, (int64_t)b);
    case TYPE_F32: return bits_of(f32_of((uint32_t)old) + f32_of((uint32_t)b));
    case TYPE_F64: return bits64_of(f64_of(old) + f64_of(b));
    case TYPE_F16: return f16_bits(PICK(float, f16_value((uint16_t)old), f16_value((uint16_t)b)));
    case TYPE_BF16: return bf16_bits(PICK(float, bf16_value((uint16_t)old), bf16_value((uint16_t)b)));
    case TYPE_F16X2:
        return (uint64_t)f16_bits(PICK(float, f16_value(old >> 16), f16_value(b >> 16))) << 16 |
                f16_bits(PICK(float, f16_value(old), f16_value(b)));
    case TYPE_BF16X2:
        return (uint64_t)bf16_bits(PICK(float, bf16_value(old >> 16), bf16_value(b >> 16))) << 16 |
                bf16_bits(PICK(float, bf16_value(old), bf16_value(b)));
    }
    return old;
}

static uint64_t value_of(struct warp *w, uint32_t operand, uint32_t size, int lane) {
    return operand == NONE ? 0 : size == 8 ? u64_of(w, operand)[lane] : u32_of(w, operand)[lane];
}

#define MOST_ELEMENTS 8
/* Lanes' values, undefined lanes, and the unit for old values. */
struct element {
    uint64_t values[LANES];
    uint32_t undefined, before;
};

/* Units at the pool's word ``spare``: values, then results, maybe the same. */
static void atomic_elements(struct warp *w, const struct row *r, uint32_t mask, struct element *elements) {
    const uint32_t one[2] = {r->b, r->d}, *units = r->count > 1 ? (const uint32_t *)w->pool + r->spare : one;
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t value = units[k];
        elements[k].before = units[r->count + k];
        elements[k].undefined =
                w->any_undefined && value < w->block->launch->kernel->units ? w->undefined[value] & mask : 0;
        for (uint32_t left = mask; left; left &= left - 1) {
            int i = __builtin_ctz(left);
            elements[k].values[i] = value_of(w, value, r->size, i);
        }
    }
    for (uint32_t k = 0; w->any_undefined && k < r->count; k++)
        if (elements[k].before != NONE) w->undefined[elements[k].before] &= ~mask;
}

/* ``ahead`` bytes after the first. Returns the lanes that changed it. */
static uint32_t change(
        struct warp *w, const struct row *r, const struct place *p, uint32_t ahead, const struct element *it) {
    uint32_t how = r->e & 255, type = r->e >> 8, changed = 0;
    if (it->undefined & p->mask && p->region && !p->region->owner) check_undefined_used(w, r, it->undefined & p->mask);
    for (uint32_t left = p->mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        bool undefined = it->undefined >> i & 1;
        uint8_t *at = p->data + p->offsets[i] + ahead, *valid = p->valid ? p->valid + p->offsets[i] + ahead : NULL;
        uint64_t b = it->values[i], c = value_of(w, r->c, r->size, i), old = 0;
        if (valid && w->block->launch->check && it->before != NONE && memchr(valid, 0, r->size)) {
            w->undefined[it->before] |= 1u << i;
            w->any_undefined |= 1;
            w->undefined[w->block->launch->kernel->units] = r->line;
        }
        /* otherwise an undefined value stays so */
        if (valid && (how == ATOMIC_EXCH || undefined)) memset(valid, !undefined, r->size);
#define EXCHANGE(T) \
    do { \
        T seen = __atomic_load_n((T *)at, __ATOMIC_RELAXED); \
        if (r->size == 2) b &= 0xffff, c &= 0xffff; \
        while (!__atomic_compare_exchange_n((T *)at, &seen, (T)memory_changed(how, type, seen, b, c), true, \
                __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {} \
        old = seen; \
        changed |= (uint32_t)((T)memory_changed(how, type, seen, b, c) != seen) << i; \
    } while (0)
        if (r->size == 4) EXCHANGE(uint32_t);
        else if (r->size == 8) EXCHANGE(uint64_t);
        else EXCHANGE(uint16_t);
        if (it->before == NONE) continue;
        if (r->size == 8) u64_of(w, it->before)[i] = old;
        else u32_of(w, it->before)[i] = (uint32_t)old;
    }
    return changed;
}

int memory_atomic(struct warp *w, const struct row *r, uint32_t mask) {
    uint64_t room[LANES];
    const uint64_t *address = row_addresses(w, r, r->a, 1, r->imm, room);
    bool check = w->block->launch->check;
    uint32_t total = r->size * r->count, changed = 0, lanes = mask;
    struct element elements[MOST_ELEMENTS];
    atomic_elements(w, r, mask, elements);
    if (check) check_release(w);
    struct place p;
    while (mask) {
        if (!place_of(w, r, address, mask, r->space, total, true, &p)) return 1;
        mask &= ~p.mask;
        if (w->block->launch->profile) profiled(w, r, &p, total, UPDATES);
        if (w->block->launch->sample && p.region && !p.region->owner)
            atomic_store(&w->block->launch->engine->combined, true);
        if (check && p.region && p.region->written) {
            check_access(w, r, p.region, p.offsets, p.mask, total, true, true);
            if (!p.region->owner) check_unnoted(w, p.region);
        }
        for (uint32_t k = 0; k < r->count; k++) changed |= change(w, r, &p, k * r->size, &elements[k]);
    }
    if (changed) {
        w->moved = true;
        progress_made(w);
    } else {
        w->looks++;
        w->looked = r->line;
    }
    if (check && lanes) memory_stored(w, lanes);
    if (check) check_acquire(w);
    return 0;
}

void memory_prefetch(struct warp *w, const struct row *r, uint32_t mask) {
    uint64_t room[LANES];
    const uint64_t *address = row_addresses(w, r, r->a, 1, r->imm, room);
    uint32_t inside = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        uint64_t size = r->size == PREFETCHES ? 1 : u32_of(w, r->b)[i];
        struct region *region = address[i] < SHARED_BASE ? region_of(w->block->launch->engine, address[i]) : NULL;
        if (!region || region->freed || region->size - (address[i] - region->address) < size) continue;
        inside |= 1u << i;
        if (r->size == PREFETCHES_BULK) profile_bulk(w, address[i], size, FETCHES, true);
    }
    if (inside && r->size == PREFETCHES) profile_global(w, r, address, inside, 1, FETCHES);
}
