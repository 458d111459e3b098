/* The host's memory: regions, their bytes' states, pages filled when touched. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "host.h"

#define GAP 65536ull

struct region *region_of(struct engine *engine, uint64_t address) {
    uint32_t low = 0, high = engine->region_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (engine->regions[middle].address <= address) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return NULL;
    struct region *found = &engine->regions[low - 1];
    return address - found->address < found->size ? found : NULL;
}

static void page_fill(const struct region *region, uint64_t page) {
    const struct lazy *lazy = region->lazy;
    uint64_t begin = page * LAZY_PAGE, end = begin + LAZY_PAGE < region->size ? begin + LAZY_PAGE : region->size;
    for (uint64_t at = begin; at < end;) {
        uint64_t from = at % lazy->period, size = lazy->period - from < end - at ? lazy->period - from : end - at;
        memcpy(region->data + at, lazy->pattern + from, size);
        at += size;
    }
    for (uint64_t i = 0; i < lazy->overlay_count; i++) {
        const struct overlay *it = &lazy->overlays[i];
        uint64_t first = begin / lazy->element, behind = end / lazy->element;
        uint64_t element =
                first <= it->first ? it->first : it->first + (first - it->first + it->step - 1) / it->step * it->step;
        for (; element < behind; element += it->step)
            memcpy(region->data + element * lazy->element, &it->value, lazy->element);
    }
}

void region_fill(struct engine *engine, struct region *region, uint64_t offset, uint64_t size) {
    static atomic_flag lock = ATOMIC_FLAG_INIT;
    uint8_t *drawn = region->lazy->drawn;
    for (uint64_t page = offset / LAZY_PAGE; page <= (offset + size - 1) / LAZY_PAGE; page++) {
        if (__atomic_load_n(&drawn[page], __ATOMIC_ACQUIRE)) continue;
        while (atomic_flag_test_and_set(&lock)) {}
        if (!drawn[page]) {
            page_fill(region, page);
            atomic_fetch_add(&engine->drawn_bytes, LAZY_PAGE);
            __atomic_store_n(&drawn[page], 1, __ATOMIC_RELEASE);
        }
        atomic_flag_clear(&lock);
    }
}

/* ``misalign`` bytes past a multiple of 512, like an array in a buffer. 0: no room. */
uint64_t engine_add(
        struct engine *engine, void *data, uint64_t size, uint32_t misalign, uint32_t tracked, uint32_t constant) {
    if (engine->region_count == engine->region_room) {
        struct region *more = grown(engine->regions, &engine->region_room, 64, sizeof *more);
        if (!more) return 0;
        engine->regions = more;
    }
    uint64_t last = engine->gpus > 1 ? FIRST_ADDRESS + (engine->gpu + 1) * GPU_ADDRESSES : LAST_ADDRESS;
    if (size > last - FIRST_ADDRESS || engine->next_address + misalign > last - size) return 0;
    struct region region = {.address = engine->next_address + misalign,
            .size = size,
            .data = data,
            .number = engine->next_number,
            .constant = constant};
    if (tracked && size) {
        region.valid = tracked > 1 ? host_reserve(size) : NULL;
        region.written = host_reserve(4 * size);
        region.read = host_reserve(4 * size);
        region.read_too = host_reserve(4 * size);
        if ((tracked > 1 && !region.valid) || !region.written || !region.read || !region.read_too) return 0;
    }
    engine->next_number++;
    engine->next_address += (size + misalign + GAP + 511) / 512 * 512;
    uint32_t at = engine->region_count++;
    while (at && engine->regions[at - 1].address > region.address) at--;
    memmove(engine->regions + at + 1, engine->regions + at, (engine->region_count - 1 - at) * sizeof region);
    engine->regions[at] = region;
    return region.address;
}

/* Before any memory is added. */
void engine_gpus(struct engine *engine, uint32_t gpus) {
    engine->gpus = gpus;
    for (uint32_t i = 0; i < gpus; i++) {
        engine->next_addresses[i] = FIRST_ADDRESS + i * GPU_ADDRESSES;
        engine->reach[i] = (1u << gpus) - 1;
    }
}

/* For the next memory and launches. ``reach``: GPUs whose memory its kernels reach, as bits. */
uint32_t engine_gpu(struct engine *engine, uint32_t gpu, uint32_t reach) {
    if (gpu >= engine->gpus) return 0;
    engine->next_addresses[engine->gpu] = engine->next_address;
    engine->next_address = engine->next_addresses[gpu];
    engine->gpu = gpu;
    engine->reach[gpu] = reach | 1u << gpu;
    return 1;
}

/* Every GPU reaches this memory. */
void engine_everywhere(struct engine *engine, uint64_t address) {
    struct region *region = region_of(engine, address);
    if (region) region->everywhere = true;
}

void engine_keep_apart(struct engine *engine, uint64_t bytes) { engine->next_address += bytes; }

uint32_t engine_number_of(struct engine *engine, uint64_t address) {
    struct region *found = region_of(engine, address);
    return found ? found->number : 0;
}

/* ``keep``: reports a later use. Returns its number; 0: none. */
uint32_t engine_remove(struct engine *engine, uint64_t address, uint32_t keep) {
    for (uint32_t i = 0; i < engine->region_count; i++) {
        struct region *it = &engine->regions[i];
        if (it->address != address || it->freed) continue;
        if (it->valid) host_release(it->valid, it->size);
        if (it->written) {
            host_release(it->written, 4 * it->size);
            host_release(it->read, 4 * it->size);
            host_release(it->read_too, 4 * it->size);
        }
        it->valid = NULL;
        it->written = it->read = it->read_too = NULL;
        uint32_t number = it->number;
        if (keep) {
            it->freed = true;
            it->data = NULL;
        } else {
            memmove(it, it + 1, (engine->region_count - i - 1) * sizeof *it);
            engine->region_count--;
        }
        return number;
    }
    return 0;
}

/* Written by a copy or memset. */
void engine_mark(struct engine *engine, uint64_t address, uint64_t size) {
    struct region *it = region_of(engine, address);
    if (it && it->valid && address - it->address + size <= it->size)
        memset(it->valid + (address - it->address), 1, size);
}

/* Groups of ``length`` bytes with ``pattern``, as new host memory has, become unwritten. Not a last group of less than
 * four bytes, which chance explains. */
void engine_unmark(struct engine *engine, uint64_t address, uint64_t size, const uint8_t *pattern, uint32_t length) {
    struct region *it = region_of(engine, address);
    if (!it || !it->valid || !it->data || size > it->size - (address - it->address)) return;
    uint64_t from = address - it->address;
    for (uint64_t at = 0; at < size; at += length) {
        uint64_t some = size - at < length ? size - at : length;
        if (some >= 4 && memcmp(it->data + from + at, pattern, some) == 0) memset(it->valid + from + at, 0, some);
    }
}

uint32_t engine_lazy(struct engine *engine, uint64_t address, struct lazy *lazy) {
    struct region *region = region_of(engine, address);
    if (region) region->lazy = lazy;
    return region != NULL;
}

/* For a use by the host. */
void engine_fill(struct engine *engine, uint64_t address, uint64_t size) {
    struct region *region = region_of(engine, address);
    if (region && region->lazy && size) region_fill(engine, region, address - region->address, size);
}

void regions_begin(struct engine *engine) {
    engine->next_address = FIRST_ADDRESS;
    engine->next_number = 1;
}

void regions_forget_accesses(struct engine *engine) {
    for (uint32_t i = 0; i < engine->region_count; i++) {
        struct region *it = &engine->regions[i];
        if (it->written) {
            host_forget(it->written, 4 * it->size);
            host_forget(it->read, 4 * it->size);
            host_forget(it->read_too, 4 * it->size);
        }
    }
}

void regions_delete(struct engine *engine) {
    while (engine->region_count) {
        engine->regions[0].freed = false;
        engine_remove(engine, engine->regions[0].address, 0);
    }
    free(engine->regions);
}
