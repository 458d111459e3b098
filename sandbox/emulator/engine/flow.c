/* Finds threads that skipped a barrier at which others wait.
 *
 * Such a thread ran code after the barrier, stored there since the last barrier, and returned without a way back. */
#include <stdlib.h>

#include "engine.h"

#define ANY_CALLER NONE /* a function returns to any call */

static bool calls(const struct row *r) { return r->op == OP_CALL || r->op == OP_CALL_INDIRECT; }

/* ``each``: gets rows that may follow ``from``, and ANY_CALLER. */
static void visit(
        const struct kernel *kernel, uint32_t from, void (*each)(void *, uint32_t from, uint32_t to), void *with) {
    const struct row *r = &kernel->rows[from];
    bool always = r->guard == NONE;
    switch (r->op) {
    case OP_BRANCH:
    case OP_CALL:
        each(with, from, (uint32_t)r->imm);
        if (always && r->op == OP_BRANCH) return;
        break;
    case OP_CALL_INDIRECT:
        for (uint32_t i = 0; i < r->b; i++) each(with, from, kernel->pool[r->a + i]);
        break;
    case OP_BRANCH_INDEX:
        for (uint32_t i = 0; i < r->c; i++) each(with, from, kernel->pool[r->b + i]);
        if (always) return;
        break;
    case OP_RETURN:
        each(with, from, ANY_CALLER);
        if (always) return;
        break;
    case OP_EXIT:
    case OP_TRAP:
        if (always) return;
    }
    each(with, from, from + 1);
}

struct search {
    const struct kernel *kernel;
    uint8_t *reached;
    uint32_t *left, count;
    bool grew, callers;
};

/* Within one function: another's callers are unknown. */
static void reach(void *with, uint32_t from, uint32_t to) {
    struct search *it = with;
    bool leaves = calls(&it->kernel->rows[from]) && to != from + 1;
    if (leaves || to >= it->kernel->row_count || it->reached[to]) return;
    it->reached[to] = 1;
    it->left[it->count++] = to;
}

/* ``callers``: code after a call leads there. */
static void lead(void *with, uint32_t from, uint32_t to) {
    struct search *it = with;
    bool leads = to == ANY_CALLER ? it->callers : to < it->kernel->row_count && it->reached[to];
    if (!leads || it->reached[from]) return;
    it->reached[from] = 1;
    it->grew = true;
    it->callers |= from && calls(&it->kernel->rows[from - 1]);
}

/* Rows after the barrier in ``row`` that lead to no barrier of its line (compilers make several); NULL: no memory. */
static uint8_t *rows_behind(const struct kernel *kernel, uint32_t row) {
    uint8_t *after = allocate(kernel->row_count, 1), *before = allocate(kernel->row_count, 1);
    uint32_t *left = allocate(kernel->row_count, sizeof *left);
    if (after && before && left) {
        struct search forth = {.kernel = kernel, .reached = after, .left = left},
                      back = {.kernel = kernel, .reached = before};
        visit(kernel, row, reach, &forth);
        while (forth.count) visit(kernel, left[--forth.count], reach, &forth);
        for (uint32_t i = 0; i < kernel->row_count; i++) {
            before[i] = kernel->rows[i].op == OP_BARRIER && kernel->rows[i].line == kernel->rows[row].line;
            back.callers |= before[i] && i && calls(&kernel->rows[i - 1]);
        }
        do {
            back.grew = false;
            for (uint32_t i = kernel->row_count; i-- > 0;) visit(kernel, i, lead, &back);
        } while (back.grew);
        for (uint32_t i = 0; i < kernel->row_count; i++) after[i] &= !before[i];
    } else {
        free(after);
        after = NULL;
    }
    free(before);
    free(left);
    return after;
}

bool flow_new(struct launch *launch) {
    return (launch->behind = allocate(launch->kernel->row_count, sizeof *launch->behind)) != NULL;
}

void flow_delete(struct launch *launch) {
    for (uint32_t i = 0; launch->behind && i < launch->kernel->row_count; i++) free(launch->behind[i]);
    free(launch->behind);
}

uint32_t flow_passed(const struct block *block, uint32_t row, uint32_t *line) {
    struct launch *launch = block->launch;
    if (!launch->behind || !block->stored) return 0;
    while (atomic_flag_test_and_set(&launch->lock)) {}
    if (!launch->behind[row] && !(launch->behind[row] = rows_behind(launch->kernel, row))) out_of_memory(launch);
    const uint8_t *behind = launch->behind[row];
    atomic_flag_clear(&launch->lock);
    for (uint32_t i = 0; behind && i < launch->kernel->row_count; i++) {
        uint32_t thread = block->stored[i] % STORED_INTERVAL - 1;
        if (!behind[i] || !block->stored[i] || block->stored[i] != stored_now(block, thread) ||
                !(block->warps[thread / LANES].exited >> thread % LANES & 1))
            continue;
        *line = launch->kernel->rows[i].line;
        return thread + 1;
    }
    return 0;
}
