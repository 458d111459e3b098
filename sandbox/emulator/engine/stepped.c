/* Notes for a page: the row, and allocations. */
#include "engine.h"

uint32_t step_row(const struct step *step) { return (uint32_t)(step->until - step->left - 1); }
void step_allocated(struct warp *w, const struct row *r, int lane, uint64_t address, uint64_t size) {
    struct step *step = w->block->launch->step;
    if (step->allocation_count == step->allocation_room) {
        struct allocation *more = grown(step->allocations, &step->allocation_room, 64, sizeof *more);
        if (!more) return;
        step->allocations = more;
    }
    step->allocations[step->allocation_count++] = (struct allocation){.address = address,
            .size = size,
            .thread = w->number * LANES + (uint32_t)lane,
            .line = r->line,
            .row = step_row(step),
            .freed_row = NONE};
}
void step_freed(struct warp *w, const struct row *r, int lane, uint64_t address) {
    struct step *step = w->block->launch->step;
    for (uint32_t i = step->allocation_count; i-- > 0;) {
        struct allocation *it = &step->allocations[i];
        if (it->address != address || it->freed_row != NONE) continue;
        it->freed_thread = w->number * LANES + (uint32_t)lane;
        it->freed_line = r->line;
        it->freed_row = step_row(step);
        return;
    }
}
