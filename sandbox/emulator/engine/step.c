/* Runs a block a row at a time, for a page. Exports flat numbers, for WebAssembly and the library alike. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "run.h"

#define STEP_PRINTED (64u << 10) /* with marks */

struct stepper {
    struct kernel kernel;
    struct launch launch;
    struct worker worker;
    struct step step;
    struct cluster cluster;
    struct block *block;
    uint32_t *clock, at, status, state[STEP_WORDS];
    uint64_t rows;
    bool progress, live; /* this round */
};

static uint64_t mixed(uint64_t sum, const char *text) {
    while (*text) sum = (sum ^ (uint8_t)*text++) * 0x100000001b3ull;
    return (sum ^ 1) * 0x100000001b3ull;
}
/* Of the rows: another build has other numbers for the same names. */
uint32_t step_version(void) {
    uint64_t sum = mixed(0xcbf29ce484222325ull, engine_names());
    for (uint32_t i = 0; i < alu_count; i++) sum = mixed(sum, alu_names[i]);
    return (uint32_t)(sum ^ sum >> 32);
}

void *step_alloc(uint64_t size) { return size > SIZE_MAX / 2 ? NULL : allocate_aligned((size_t)size + UNIT); }

/* Address, size, bytes, written bytes, number, flags. False: none. */
bool step_memory(struct engine *engine, uint32_t index, uint64_t out[6]) {
    if (index >= engine->region_count) return false;
    const struct region *it = &engine->regions[index];
    out[0] = it->address;
    out[1] = it->size;
    out[2] = (uintptr_t)it->data;
    out[3] = (uintptr_t)it->valid;
    out[4] = it->number;
    out[5] = (it->constant ? STEP_CONSTANT : 0) | (it->written ? STEP_TRACKED : 0) | (it->freed ? STEP_FREED : 0) |
            (it->lazy ? STEP_LAZY : 0);
    return true;
}

/* At the judge's address, in ascending order. ``data``: bytes from ``from`` on, a multiple of ``granule``, the
 * kernel's; the block uses no others. ``valid``: written bytes (NULL: all). ``seen``: twelve zeros for each byte, or
 * NULL. The caller owns all three. False: no room. */
bool step_region(struct engine *engine, uint64_t address, uint64_t size, uint32_t number, uint32_t flags, uint64_t from,
        uint64_t bytes, uint8_t *data, uint8_t *valid, uint8_t *seen, uint32_t granule) {
    if (engine->region_count == engine->region_room) {
        struct region *more = grown(engine->regions, &engine->region_room, 64, sizeof *more);
        if (!more) return false;
        engine->regions = more;
    }
    struct region it = {.address = address,
            .size = size,
            .number = number,
            .constant = flags & STEP_CONSTANT,
            .freed = flags & STEP_FREED};
    if (data) it.data = data - from;
    if (valid) it.valid = valid - from;
    if (seen) {
        it.written = (uint32_t *)(void *)seen - from / granule;
        it.read = it.written + bytes;
        it.read_too = it.read + bytes;
    }
    engine->regions[engine->region_count++] = it;
    return true;
}
/* With memory of step_region. */
void step_end(struct engine *engine) {
    engine->region_count = 0;
    engine_delete(engine);
}

/* Read or written bytes of a complete region. */
void step_touched(struct engine *engine, uint64_t address, uint32_t granule, uint8_t *each) {
    const struct region *it = region_of(engine, address);
    for (uint64_t g = 0; it && it->written && g * granule < it->size; g++)
        if (it->written[g] || it->read[g])
            memset(each + g * granule, 1, it->size - g * granule < granule ? it->size - g * granule : granule);
}

/* ``words``: enum step_word. NULL: no memory, or not possible. */
struct stepper *step_new(struct engine *engine, const uint32_t *words, const struct row *rows, const uint32_t *pool,
        const uint32_t *specials, const uint32_t *arrays) {
    struct stepper *it = allocate(1, sizeof *it);
    if (!it) return NULL;
    it->kernel = (struct kernel){.rows = rows,
            .row_count = words[STEP_ROW_COUNT],
            .entry = words[STEP_ENTRY],
            .units = words[STEP_UNITS],
            .pool_units = words[STEP_POOL_UNITS],
            .special_count = words[STEP_SPECIAL_COUNT],
            .local_bytes = words[STEP_LOCAL_BYTES],
            .shared_bytes = words[STEP_STATIC_SHARED],
            .granule = words[STEP_GRANULE],
            .async = words[STEP_ASYNC],
            .pool = pool,
            .specials = specials,
            .arrays = arrays,
            .array_count = words[STEP_ARRAY_COUNT]};
    const uint32_t *grid = words + STEP_GRID, *threads = words + STEP_THREADS;
    it->launch = (struct launch){.kernel = &it->kernel,
            .grid = {grid[0], grid[1], grid[2]},
            .threads = {threads[0], threads[1], threads[2]},
            .cluster = {1, 1, 1},
            .cluster_size = 1,
            .shared_bytes = words[STEP_STATIC_SHARED] + words[STEP_DYNAMIC_SHARED],
            .check = words[STEP_CHECK],
            .step = &it->step,
            .engine = engine,
            .block_count = (uint64_t)grid[0] * grid[1] * grid[2],
            .first_segment = atomic_load(&engine->next_segment),
            .lock = ATOMIC_FLAG_INIT};
    it->worker.launch = &it->launch;
    engine_tag_prints(engine, STEP_PRINTED);
    if (!checks_begin(&it->launch) || !(it->block = block_new(&it->worker))) return NULL;
    size_t clock = 2 * (size_t)it->launch.clock_words;
    if (clock && !(it->clock = allocate(clock, 4))) return NULL;
    return it;
}

static void begin(struct stepper *it, uint64_t number) {
    uint32_t words = it->launch.clock_words;
    it->cluster = (struct cluster){
            .size = 1, .number = (uint32_t)number, .pending = it->clock, .clock = it->clock ? it->clock + words : NULL};
    if (it->clock) memset(it->clock, 0, 8 * (size_t)words);
    block_begin(it->block, number, &it->cluster, 0);
    it->at = 0;
    it->rows = 0;
    it->progress = it->live = false;
    it->status = MORE;
}

/* Returns enum step_state. */
const uint32_t *step_on(struct stepper *it, uint64_t rows) {
    struct block *block = it->block;
    it->step.left = it->status == MORE ? rows : 0;
    it->step.until = it->rows + it->step.left;
    while (it->status == MORE) {
        struct warp *w = &block->warps[it->at];
        if (w->exited != w->existing) {
            uint64_t before = it->worker.instructions;
            enum status status = warp_run(w, &it->worker.instructions);
            it->rows += it->worker.instructions - before;
            it->progress |= it->worker.instructions != before && !w->failed;
            if (atomic_load(&it->launch.stop)) it->status = it->launch.fault.kind ? FAULT_THERE : NO_ROOM;
            else if (it->step.found) it->status = FOUND_THERE;
            if (status == PAUSED || it->status != MORE) break;
            it->live |= w->exited != w->existing;
        }
        if (++it->at < block->warp_count) continue;
        if (!it->live) it->status = ENDED;
        else if (!it->progress && async_stuck(block)) it->status = WAITS_FOR_OTHERS;
        it->at = 0;
        it->progress = it->live = false;
    }
    const struct warp *w = &block->warps[it->at];
    const struct row *r = w->pc < it->kernel.row_count ? &it->kernel.rows[w->pc] : NULL;
    uint32_t *state = it->state, runs = w->active;
    if (r && r->guard != NONE) runs &= r->flags & NEGATED ? ~*u32_of(w, r->guard) : *u32_of(w, r->guard);
    state[STEP_STATUS] = it->status;
    state[STEP_WARP] = it->at;
    state[STEP_PC] = w->pc;
    state[STEP_RUNS] = runs;
    state[STEP_ROWS] = (uint32_t)it->rows;
    state[STEP_FINDINGS] = it->launch.finding_count;
    return state;
}

/* ``before``: runs to its end first, or NONE. Pauses at a finding of ``kind`` in ``line``. */
const uint32_t *step_begin(struct stepper *it, uint32_t block, uint32_t before, uint32_t kind, uint32_t line) {
    if (before != NONE) {
        begin(it, before);
        step_on(it, STEP_MOST_ROWS);
        if (it->status != ENDED) {
            it->status = WAITS_FOR_OTHERS;
            return step_on(it, 0);
        }
    }
    it->step.kind = kind;
    it->step.line = line;
    it->launch.finding_count = 0;
    it->step.allocation_count = 0;
    it->launch.engine->printed_size = 0;
    engine_tag_prints(it->launch.engine, STEP_PRINTED);
    begin(it, block);
    return step_on(it, 0);
}

/* Lanes that exist, returned, are active; row; groups of three words. */
const uint32_t *step_warp(struct stepper *it, uint32_t number) {
    static uint32_t out[5 + 3 * LANES];
    const struct warp *w = &it->block->warps[number];
    uint32_t *into = out;
    *into++ = w->existing;
    *into++ = w->exited;
    *into++ = w->active;
    *into++ = w->pc;
    *into++ = w->group_count < LANES ? w->group_count : LANES;
    for (uint32_t i = 0; i < w->group_count && i < LANES; i++) {
        *into++ = w->groups[i].pc;
        *into++ = w->groups[i].mask;
        *into++ = w->groups[i].waits;
    }
    return out;
}
const uint8_t *step_registers(struct stepper *it, uint32_t warp) { return it->block->warps[warp].file; }
const uint32_t *step_undefined(struct stepper *it, uint32_t warp) {
    const struct warp *w = &it->block->warps[warp];
    return w->any_undefined ? w->undefined : NULL;
}
/* The kernel's bytes per lane; which are written; where each lane's function begins. */
const uint8_t *step_local(struct stepper *it, uint32_t warp) { return it->block->warps[warp].local; }
const uint8_t *step_local_valid(struct stepper *it, uint32_t warp) { return it->block->warps[warp].local_valid; }
const uint32_t *step_stack(struct stepper *it, uint32_t warp) { return it->block->warps[warp].stack; }
/* With marks, see print.c. */
const char *step_printed(const struct engine *engine) { return engine->printed; }
uint32_t step_printed_size(const struct engine *engine) { return (uint32_t)engine->printed_size; }
uint32_t step_prints_left_out(const struct engine *engine) { return (uint32_t)engine->prints_left_out; }
const struct allocation *step_allocations(const struct stepper *it) { return it->step.allocations; }
uint32_t step_allocation_count(const struct stepper *it) { return it->step.allocation_count; }

const uint8_t *step_shared(struct stepper *it) { return it->block->shared; }
const uint8_t *step_shared_valid(struct stepper *it) { return it->block->shared_valid; }
/* The fault, or the finding that stopped it. */
const struct finding *step_finding(struct stepper *it) {
    if (it->launch.fault.kind) return &it->launch.fault;
    for (uint32_t i = 0; i < it->launch.finding_count; i++) {
        const struct finding *found = &it->launch.findings[i];
        if (found->kind == it->step.kind && found->line == it->step.line) return found;
    }
    return NULL;
}
/* The fault, or the first finding. */
const struct finding *step_first(struct stepper *it) {
    if (it->launch.fault.kind) return &it->launch.fault;
    return it->launch.finding_count ? &it->launch.findings[0] : NULL;
}
/* All blocks, like the judge: 0, or enum stop. */
int step_all(struct stepper *it, const uint32_t cluster[3], uint32_t cooperative) {
    const struct launch *launch = &it->launch;
    return engine_launch(launch->engine, &it->kernel, launch->grid, launch->threads, cluster,
            launch->shared_bytes - it->kernel.shared_bytes, cooperative, launch->check, NULL);
}
/* Of memory, registers and shared memory. */
uint32_t step_checksum(struct stepper *it) {
    uint64_t sum = 0xcbf29ce484222325ull;
    const struct block *block = it->block;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const uint32_t *words = (const uint32_t *)(void *)block->warps[i].file;
        for (uint32_t k = 0; k < it->kernel.units * LANES; k++) sum = (sum ^ words[k]) * 0x100000001b3ull;
        sum = (sum ^ block->warps[i].pc ^ (uint64_t)block->warps[i].active << 32) * 0x100000001b3ull;
    }
    for (uint32_t k = 0; k < it->launch.shared_bytes; k++) sum = (sum ^ block->shared[k]) * 0x100000001b3ull;
    return (uint32_t)(sum ^ sum >> 32);
}
void step_delete(struct stepper *it) {
    block_delete(it->block);
    checks_end(&it->launch);
    free(it->clock);
    free(it->step.allocations);
    free(it);
}
