/* The order of a call's launches and copies. Only host code orders work of two streams.
 *
 * Each work has a place in its stream, and knows each stream's place that certainly came before. By default it is in
 * stream 0, after all earlier work. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* ``size``: written at ``address``. */
struct work {
    uint32_t first_segment, stream, place, granule, grid[3], threads[3];
    uint64_t address, size;
    bool copies, reads;
};

/* All before it is done. */
void engine_order_begins(struct engine *engine) {
    engine->work_count = engine->works_from = engine->unordered = 0;
    engine->order = (struct order){0};
    for (uint32_t i = 0; i < engine->region_count; i++) engine->regions[i].unrecorded = engine->regions[i].unnoted = 0;
}

/* Of the next work. ``known``: places by stream, its own included. 0: no such stream. */
uint32_t engine_order(struct engine *engine, uint32_t stream, const uint32_t *known) {
    if (stream >= STREAMS) return 0;
    engine->order = (struct order){.given = true, .stream = stream};
    memcpy(engine->order.known, known, sizeof engine->order.known);
    return 1;
}

void order_forget_segments(struct engine *engine) { engine->works_from = engine->work_count; }

/* ``floor``: the first segment that may be unordered. */
struct order order_next(
        struct engine *engine, uint32_t granule, const uint32_t grid[3], const uint32_t threads[3], uint32_t *floor) {
    struct order order = engine->order;
    engine->order = (struct order){0};
    if (!order.given) order.known[0] = ++engine->unordered;
    order.number = engine->work_count;
    *floor = atomic_load(&engine->next_segment);
    if (engine->work_count == engine->work_room) {
        struct work *more = grown(engine->works, &engine->work_room, 64, sizeof *more);
        if (!more) {
            order_forget_segments(engine);
            order.given = false;
            return order;
        }
        engine->works = more;
    }
    struct work *work = &engine->works[engine->work_count++];
    *work = (struct work){
            .first_segment = *floor, .stream = order.stream, .place = order.known[order.stream], .granule = granule};
    memcpy(work->grid, grid, sizeof work->grid);
    memcpy(work->threads, threads, sizeof work->threads);
    for (uint32_t i = engine->works_from; order.given && i < order.number; i++) {
        const struct work *it = &engine->works[i];
        if (it->place <= order.known[it->stream]) continue;
        *floor = it->first_segment;
        break;
    }
    return order;
}

void order_copies(struct engine *engine, uint64_t address, uint64_t size, bool reads) {
    if (engine->work_count == 0) return;
    struct work *it = &engine->works[engine->work_count - 1];
    it->copies = true;
    it->reads = reads;
    it->address = address;
    it->size = size;
}

int64_t order_copied(const struct engine *engine, uint64_t address) {
    for (uint32_t i = engine->work_count; i-- > 0;)
        if (address - engine->works[i].address < engine->works[i].size) return i;
    return -1;
}

uint32_t order_granule(const struct engine *engine, uint32_t work) { return engine->works[work].granule; }

uint32_t order_granules(const struct engine *engine) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < engine->work_count; i++)
        if (!engine->works[i].copies) found |= engine->works[i].granule;
    return found;
}

/* Of all launches and reading copies; 0: several, or unknown. */
uint32_t order_granule_of_reads(const struct engine *engine) {
    uint32_t found = order_granules(engine);
    for (uint32_t i = 0; i < engine->work_count; i++)
        if (engine->works[i].reads) found |= engine->works[i].granule;
    return engine->works_from == 0 && (found & (found - 1)) == 0 ? found : 0;
}

int64_t order_work(const struct engine *engine, uint32_t segment) {
    uint32_t low = engine->works_from, high = engine->work_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (engine->works[middle].first_segment <= segment) low = middle + 1;
        else high = middle;
    }
    return (int64_t)low - 1 >= engine->works_from ? (int64_t)low - 1 : -1;
}

bool order_knows(const struct engine *engine, const struct order *order, uint32_t granule, uint32_t segment) {
    int64_t number = order_work(engine, segment);
    if (number < 0 || !order->given) return true;
    const struct work *it = &engine->works[number];
    return it->granule != granule || it->place <= order->known[it->stream];
}

uint32_t order_describe(const struct engine *engine, uint32_t segment, uint32_t block, uint32_t thread,
        uint32_t block_at[3], uint32_t thread_at[3]) {
    int64_t number = order_work(engine, segment);
    if (number < 0) return 0;
    const struct work *it = &engine->works[number];
    const uint32_t *sizes[2] = {it->grid, it->threads}, numbers[2] = {block, thread};
    uint32_t *into[2] = {block_at, thread_at};
    for (int i = 0; i < 2; i++) {
        into[i][0] = numbers[i] % sizes[i][0];
        into[i][1] = numbers[i] / sizes[i][0] % sizes[i][1];
        into[i][2] = numbers[i] / sizes[i][0] / sizes[i][1];
    }
    return (uint32_t)number;
}
