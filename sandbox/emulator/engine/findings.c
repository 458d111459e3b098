/* Faults end a launch; findings do not, and are counted by line. */
#include <string.h>

#include "engine.h"

void thread_at(const struct launch *launch, uint32_t warp, uint32_t lane, uint32_t thread[3]) {
    uint32_t number = warp * LANES + lane;
    thread[0] = number % launch->threads[0];
    thread[1] = number / launch->threads[0] % launch->threads[1];
    thread[2] = number / launch->threads[0] / launch->threads[1];
}

void block_at(const struct launch *launch, uint32_t number, uint32_t index[3]) {
    index[0] = number % launch->grid[0];
    index[1] = number / launch->grid[0] % launch->grid[1];
    index[2] = number / launch->grid[0] / launch->grid[1];
}

static struct finding finding_of(struct warp *w, const struct row *r, uint32_t kind, int lane, struct region *region,
        int64_t offset, uint32_t size, bool writes) {
    struct finding f = {.kind = kind,
            .line = r->line,
            .offset = offset,
            .size = size,
            .is_write = writes,
            .times = 1,
            .space = r->space,
            .region = region ? region->number : 0,
            .extent = region && region->heap ? (int64_t)region->size : 0};
    memcpy(f.block, w->block->index, sizeof f.block);
    thread_at(w->block->launch, w->number, (uint32_t)lane, f.thread);
    return f;
}

void report(struct warp *w, const struct row *r, uint32_t kind, int lane, struct region *region, int64_t offset,
        uint32_t size, bool writes, const struct finding *other) {
    struct launch *launch = w->block->launch;
    struct finding f = finding_of(w, r, kind, lane, region, offset, size, writes);
    if (other) {
        f.has_other = 1;
        f.other_line = other->line;
        f.other_is_write = other->is_write;
        f.together = other->together;
        memcpy(f.other_block, other->block, sizeof f.block);
        memcpy(f.other_thread, other->thread, sizeof f.thread);
        f.other_work = other->other_work;
    }
    if (launch->step && launch->step->kind == kind && launch->step->line == f.line) {
        launch->step->found = true;
        launch->step->left = 0;
    }
    while (atomic_flag_test_and_set(&launch->lock)) {}
    uint32_t i = 0;
    while (i < launch->finding_count && !(launch->findings[i].kind == kind && launch->findings[i].line == f.line)) i++;
    if (i < launch->finding_count) {
        struct finding *known = &launch->findings[i];
        f.times = known->times + 1;
        uint32_t together = known->together | f.together;
        /* two writes explain more */
        if (f.together & ~known->together & TOGETHER_WRITE) *known = f;
        known->times = f.times;
        known->together = together;
    } else if (i < FINDINGS) launch->findings[launch->finding_count++] = f;
    atomic_flag_clear(&launch->lock);
}

void fault(struct warp *w, const struct row *r, uint32_t kind, int lane, struct region *region, int64_t offset,
        uint32_t size, bool writes) {
    struct launch *launch = w->block->launch;
    while (atomic_flag_test_and_set(&launch->lock)) {}
    if (launch->fault.kind == 0) launch->fault = finding_of(w, r, kind, lane, region, offset, size, writes);
    atomic_flag_clear(&launch->lock);
    atomic_store(&launch->stop, FAULTED);
}

void findings_keep(struct engine *engine, const struct launch *launch) {
    for (uint32_t i = 0; i < launch->finding_count; i++) {
        uint32_t k = 0;
        const struct finding *it = &launch->findings[i];
        while (k < engine->finding_count &&
                !(engine->findings[k].kind == it->kind && engine->findings[k].line == it->line))
            k++;
        if (k < engine->finding_count) engine->findings[k].times += it->times;
        else if (k < FINDINGS) engine->findings[engine->finding_count++] = *it;
    }
    engine->fault = launch->fault;
}

const struct finding *engine_fault(struct engine *engine) { return &engine->fault; }

/* Since the last call; the engine owns the array. */
uint32_t engine_findings(struct engine *engine, const struct finding **found) {
    uint32_t count = engine->finding_count;
    *found = engine->findings;
    engine->finding_count = 0;
    return count;
}
