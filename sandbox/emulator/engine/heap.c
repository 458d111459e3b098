/* malloc of kernels, in one region.
 *
 * Reuses freed blocks last, so later uses are reported. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define ALIGN 16ull
#define GAP 16ull /* separates blocks */

struct piece {
    uint64_t at, size;
    bool freed;
};
struct heap {
    uint64_t address, size, next; /* ``next``: free from here on */
    struct piece *pieces;
    size_t count, live, live_bytes;
    uint32_t room, lacked; /* failed calls */
    atomic_flag lock;
};

void heap_delete(struct heap *heap) {
    if (heap) free(heap->pieces);
    free(heap);
}

/* 0: forgets the old region. False: no memory. */
uint32_t engine_heap(struct engine *engine, uint64_t address, uint64_t size) {
    heap_delete(engine->heap);
    engine->heap = NULL;
    struct region *region = address ? region_of(engine, address) : NULL;
    if (!region) return 1;
    struct heap *heap = allocate(1, sizeof *heap);
    if (!heap) return 0;
    *heap = (struct heap){.address = address, .size = size, .lock = ATOMIC_FLAG_INIT};
    region->heap = true;
    engine->heap = heap;
    return 1;
}
uint64_t engine_heap_live(const struct engine *engine, uint64_t *bytes) {
    *bytes = engine->heap ? engine->heap->live_bytes : 0;
    return engine->heap ? engine->heap->live : 0;
}

static void lock(struct heap *heap) {
    while (atomic_flag_test_and_set_explicit(&heap->lock, memory_order_acquire)) {}
}
static void unlock(struct heap *heap) { atomic_flag_clear_explicit(&heap->lock, memory_order_release); }

/* The last one at or before a place. */
static struct piece *piece_at(struct heap *heap, uint64_t at) {
    size_t low = 0, high = heap->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (heap->pieces[middle].at <= at) low = middle + 1;
        else high = middle;
    }
    return low ? &heap->pieces[low - 1] : NULL;
}

static bool insert(struct heap *heap, size_t where, uint64_t at, uint64_t size) {
    if (heap->count == heap->room) {
        struct piece *more = grown(heap->pieces, &heap->room, 256, sizeof *more);
        if (!more) return false;
        heap->pieces = more;
    }
    memmove(heap->pieces + where + 1, heap->pieces + where, (heap->count - where) * sizeof *heap->pieces);
    heap->pieces[where] = (struct piece){at, size, false};
    heap->count++;
    heap->live++;
    heap->live_bytes += size;
    return true;
}

/* A place for ``size`` bytes; ~ */
static uint64_t room_for(struct heap *heap, uint64_t size, bool *used) {
    uint64_t needed = (size + ALIGN - 1) / ALIGN * ALIGN + GAP;
    *used = false;
    if (needed <= heap->size - heap->next) {
        uint64_t at = heap->next;
        if (!insert(heap, heap->count, at, size)) return ~0ull;
        heap->next += needed;
        return at;
    }
    *used = true;
    size_t kept = 0;
    for (size_t i = 0; i < heap->count; i++)
        if (!heap->pieces[i].freed) heap->pieces[kept++] = heap->pieces[i];
    heap->count = kept;
    uint64_t at = 0;
    for (size_t i = 0; i <= heap->count; i++) {
        uint64_t end = i < heap->count ? heap->pieces[i].at : heap->size;
        if (end - at >= needed) return insert(heap, i, at, size) ? at : ~0ull;
        if (i < heap->count) at = heap->pieces[i].at + (heap->pieces[i].size + ALIGN - 1) / ALIGN * ALIGN + GAP;
    }
    return ~0ull;
}

bool heap_allows(struct warp *w, const struct row *r, struct region *region, const uint64_t *offsets, uint32_t mask,
        uint32_t size, bool writes) {
    struct heap *heap = w->block->launch->engine->heap;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        struct piece found = {0};
        lock(heap);
        struct piece *it = piece_at(heap, offsets[lane]);
        if (it) found = *it;
        unlock(heap);
        bool inside = offsets[lane] - found.at < found.size;
        if (inside && !found.freed && found.size - (offsets[lane] - found.at) >= size) continue;
        struct region piece = {.number = region->number, .size = found.size, .heap = true};
        fault(w, r, inside && found.freed ? USE_AFTER_FREE : OUT_OF_BOUNDS, lane, &piece,
                (int64_t)(offsets[lane] - found.at), size, writes);
        return false;
    }
    return true;
}

/* HEAP_MALLOC: of a (64 bits), into d; HEAP_FREE: of a. */
int heap_run(struct warp *w, const struct row *r, uint32_t mask) {
    struct engine *engine = w->block->launch->engine;
    struct heap *heap = engine->heap;
    struct region *region = heap ? region_of(engine, heap->address) : NULL;
    uint32_t granule = w->block->launch->kernel->granule;
    if (w->block->launch->profile && heap) profile_heap(w, r, mask, heap->address);
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t value = u64_of(w, r->a)[lane];
        if (r->imm == HEAP_FREE) {
            if (value == 0) continue;
            bool good = false;
            if (region) {
                lock(heap);
                struct piece *it = piece_at(heap, value - heap->address);
                good = it && it->at == value - heap->address && !it->freed;
                if (good) {
                    if (w->block->launch->step) step_freed(w, r, lane, value);
                    it->freed = true;
                    heap->live--;
                    heap->live_bytes -= it->size;
                }
                unlock(heap);
            }
            if (!good) {
                fault(w, r, BAD_FREE, lane, NULL, 0, 0, false);
                return 1;
            }
            continue;
        }
        uint64_t at = ~0ull;
        bool used = false;
        if (region && value && value <= heap->size) {
            lock(heap);
            at = room_for(heap, value, &used);
            unlock(heap);
        }
        if (w->any_undefined) w->undefined[r->d] &= ~(1u << lane);
        u64_of(w, r->d)[lane] = at == ~0ull ? 0 : heap->address + at;
        if (at == ~0ull && heap) heap->lacked++;
        if (at != ~0ull && w->block->launch->step) step_allocated(w, r, lane, heap->address + at, value);
        if (at == ~0ull || !used) continue;
        if (region->valid) memset(region->valid + at, 0, value);
        if (region->written) {
            uint64_t first = at / granule, count = (at + value - 1) / granule - first + 1;
            memset(region->written + first, 0, 4 * count);
            memset(region->read + first, 0, 4 * count);
        }
    }
    return 0;
}

/* For stepping: address, size, next place, pieces. False: none. */
bool step_heap(const struct engine *engine, uint64_t out[4]) {
    const struct heap *heap = engine->heap;
    if (!heap) return false;
    out[0] = heap->address;
    out[1] = heap->size;
    out[2] = heap->next;
    out[3] = heap->count;
    return true;
}
/* Place, size, freed. */
void step_heap_piece(const struct engine *engine, uint64_t number, uint64_t out[3]) {
    const struct piece *it = &engine->heap->pieces[number];
    out[0] = it->at;
    out[1] = it->size;
    out[2] = it->freed;
}
/* In added memory. False: no memory. */
bool step_heap_begin(struct engine *engine, uint64_t address, uint64_t size, uint64_t next) {
    if (!engine_heap(engine, address, size) || !engine->heap) return false;
    engine->heap->next = next;
    return true;
}
bool step_heap_add(struct engine *engine, uint64_t at, uint64_t size, uint32_t freed) {
    struct heap *heap = engine->heap;
    if (!insert(heap, heap->count, at, size)) return false;
    if (freed) {
        heap->pieces[heap->count - 1].freed = true;
        heap->live--;
        heap->live_bytes -= size;
    }
    return true;
}
uint32_t step_heap_lacked(const struct engine *engine) { return engine->heap ? engine->heap->lacked : 0; }
