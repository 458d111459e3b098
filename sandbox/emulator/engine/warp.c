/* Runs a warp, whose lanes branches divide into groups.
 *
 * The lowest row's group runs first and joins those that it reaches: where paths join, by nvcc's layout. A looping
 * group gives others a turn, so a lane may wait for another. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "run.h"

#define PARKED 64u /* waits for lanes of this warp */
#define TURN 256u
#define MOST_LOOPS 4096u
#define FEW_LOOPS 512u /* in a launch that may not end */
#define MOST_CALLS 512u

static bool next_group(struct warp *w) {
    uint32_t best = NONE;
    for (int pass = 0; pass < 2 && best == NONE; pass++)
        for (uint32_t i = 0; i < w->group_count; i++)
            if (w->groups[i].waits == (pass ? PARKED : 0) && (best == NONE || w->groups[i].pc < w->groups[best].pc))
                best = i;
    if (best == NONE) {
        w->active = 0;
        return false;
    }
    w->pc = w->groups[best].pc;
    w->active = w->groups[best].mask;
    w->groups[best] = w->groups[--w->group_count];
    return true;
}

static void park(struct warp *w, uint32_t waits) {
    w->groups[w->group_count++] = (struct group){w->pc, w->active, waits};
    w->active = 0;
}

/* Joins waiting groups; a group at a lower row goes first. */
static void join(struct warp *w) {
    uint32_t behind = NONE;
    for (uint32_t i = 0; i < w->group_count;) {
        struct group *it = &w->groups[i];
        if (it->waits == 0 && it->pc == w->pc) {
            w->active |= it->mask;
            *it = w->groups[--w->group_count];
            continue;
        }
        if (it->waits == 0 && it->pc < w->pc && (behind == NONE || it->pc < w->groups[behind].pc)) behind = i;
        i++;
    }
    if (w->turn) w->turn--; /* others may wait for it */
    else if (behind != NONE) {
        struct group swap = w->groups[behind];
        w->groups[behind] = (struct group){w->pc, w->active, 0};
        w->pc = swap.pc;
        w->active = swap.mask;
    }
}

/* ``members`` execute it together. False: some are missing. */
static bool together(struct warp *w, uint32_t members) {
    for (uint32_t i = 0; i < w->group_count;) {
        struct group *it = &w->groups[i];
        if ((it->waits == 0 || it->waits == PARKED) && it->pc == w->pc) {
            w->active |= it->mask;
            *it = w->groups[--w->group_count];
        } else i++;
    }
    uint32_t missing = members & w->existing & ~w->exited & ~w->active;
    if (!missing) return true;
    for (uint32_t i = 0; i < w->group_count; i++)
        if (w->groups[i].waits == 0 && w->groups[i].mask & missing) {
            park(w, PARKED);
            next_group(w);
            return false;
        }
    return true;
}

/* Lanes name their sets by masks: all named lanes, and those of ``mask`` in the first one's set. */
static uint32_t members_of(const struct warp *w, uint32_t unit, uint32_t mask) {
    uint32_t all = 0;
    for (int i = 0; i < LANES; i++) all |= mask >> i & 1 ? u32_of(w, unit)[i] : 0;
    return all;
}
static uint32_t agreeing(const struct warp *w, uint32_t unit, uint32_t mask) {
    uint32_t first = u32_of(w, unit)[__builtin_ctz(mask)], same = 0;
    for (int i = 0; i < LANES; i++) same |= (uint32_t)(u32_of(w, unit)[i] == first) << i;
    return mask & same;
}

static void release(struct block *block, uint32_t number) {
    struct barrier *barrier = &block->barriers[number];
    const struct kernel *kernel = block->launch->kernel;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        struct warp *w = &block->warps[k];
        for (uint32_t i = 0; i < w->group_count; i++) {
            struct group *it = &w->groups[i];
            if (it->waits != number + 1) continue;
            it->waits = 0;
            w->moved = true;
            if (w->seen) clock_released(w, number);
            const struct row *r = &kernel->rows[it->pc - 1];
            if (r->imm < BARRIER_POPC) continue;
            uint32_t *out = u32_of(w, r->d), truth = r->imm == BARRIER_AND ? barrier->reduced_and : barrier->reduced_or;
            if (r->imm == BARRIER_POPC)
                for (int lane = 0; lane < LANES; lane++)
                    out[lane] = it->mask >> lane & 1 ? barrier->reduced_count : out[lane];
            else *out = (*out & ~it->mask) | (truth ? it->mask : 0);
        }
        w->segment = 0;
    }
    if (block->barrier_clocks) clock_release_ends(block, number);
    block->cluster->changes++;
    *barrier = (struct barrier){.reduced_and = 1};
    block->interval++;
    block->interval_first = atomic_load(&block->launch->engine->next_segment);
}

static void complete_barriers(struct block *block, const struct row *r, struct warp *w) {
    for (uint32_t number = 0; number < 16; number++) {
        struct barrier *barrier = &block->barriers[number];
        if (!barrier->arrived) continue;
        uint32_t alive = block->thread_count - block->exited, expected = barrier->expected ? barrier->expected : alive;
        if (barrier->arrived < expected) continue;
        if (block->launch->check && !barrier->expected) {
            struct finding other = {.line = barrier->line};
            struct row at = *r;
            if (barrier->mixed) {
                memcpy(other.block, block->index, sizeof other.block);
                report(w, &at, BARRIER_PLACES, 0, NULL, 0, 0, false, &other);
            } else if (block->exited) {
                uint32_t passed = flow_passed(block, barrier->row, &other.line);
                at.line = barrier->line;
                if (passed)
                    report(&block->warps[(passed - 1) / LANES], &at, BARRIER_EXITED, (int)((passed - 1) % LANES), NULL,
                            0, 0, false, &other);
            }
        }
        if (block->launch->profile) profile_released(block, barrier);
        release(block, number);
    }
}

static bool barrier(struct warp *w, const struct row *r, uint32_t mask) {
    struct block *block = w->block;
    int first = __builtin_ctz(mask);
    uint32_t number = u32_of(w, r->a)[first] & 15;
    struct barrier *it = &block->barriers[number];
    if (it->arrived == 0) {
        it->line = r->line;
        it->row = w->pc;
        it->reduced_and = 1;
        it->reduced_or = it->reduced_count = 0;
        it->mixed = false;
    } else if (it->line != r->line) it->mixed = true;
    it->expected = r->b == NONE ? 0 : u32_of(w, r->b)[first];
    /* A number counts whole warps; lanes elsewhere count when they arrive. */
    it->arrived += (uint32_t)__builtin_popcount(mask);
    if (r->imm >= BARRIER_POPC) {
        uint32_t truth = *u32_of(w, r->c);
        if (r->wide & 0x4000) truth = ~truth;
        it->reduced_and &= (truth & mask) == mask;
        it->reduced_or |= (truth & mask) != 0;
        it->reduced_count += (uint32_t)__builtin_popcount(truth & mask);
    }
    w->pc++;
    if (block->launch->profile) profile_arrives(w, it);
    if (w->seen) clock_arrives(w, number);
    block->cluster->changes++;
    if (r->imm == BARRIER_ARRIVE) {
        complete_barriers(block, r, w);
        return true;
    }
    if (block->launch->check) check_release(w);
    park(w, number + 1);
    complete_barriers(block, r, w);
    return next_group(w);
}

static void leave(struct warp *w, const struct row *r, uint32_t mask) {
    w->exited |= mask;
    w->moved = true;
    progress_made(w);
    w->active &= ~mask;
    w->block->exited += (uint32_t)__builtin_popcount(mask);
    complete_barriers(w->block, r, w);
}

/* Another group has a turn. False: all had one. */
static bool give_way(struct warp *w) {
    if (w->blocked++ > w->group_count) return false;
    for (uint32_t i = 0; i < w->group_count; i++)
        if (w->groups[i].waits == 0) {
            struct group turn = w->groups[i];
            memmove(&w->groups[i], &w->groups[i + 1], (w->group_count - i - 1) * sizeof turn);
            w->groups[w->group_count - 1] = (struct group){w->pc, w->active, 0};
            w->pc = turn.pc;
            w->active = turn.mask;
            w->turn = TURN;
            return true;
        }
    return false;
}

static void shuffle(struct warp *w, const struct row *r, uint32_t mask) {
    const uint32_t *values = u32_of(w, r->a), *lanes = u32_of(w, r->b), *limits = u32_of(w, r->c);
    uint32_t out[LANES], inside = 0, kind = r->size, strangers = 0, undefined = 0;
    for (int i = 0; i < LANES; i++) {
        uint32_t b = lanes[i] & 31, clamp = limits[i] & 31, segment = limits[i] >> 8 & 31;
        uint32_t most = ((uint32_t)i & segment) | (clamp & ~segment), least = (uint32_t)i & segment;
        int from;
        bool good;
        if (kind == SHUFFLE_UP) {
            from = i - (int)b;
            good = from >= (int)most;
        } else if (kind == SHUFFLE_DOWN) {
            from = i + (int)b;
            good = from <= (int)most;
        } else if (kind == SHUFFLE_BFLY) {
            from = i ^ (int)b;
            good = from <= (int)most;
        } else {
            from = (int)(least | (b & ~segment));
            good = from <= (int)most;
        }
        if (!good) from = i;
        out[i] = values[from & 31];
        inside |= (uint32_t)good << i;
        if (!(mask >> i & 1)) continue;
        if (!(mask >> (from & 31) & 1)) strangers |= 1u << i; /* undefined */
        else if (w->any_undefined && !(r->a & CONSTANT)) undefined |= (w->undefined[r->a] >> (from & 31) & 1) << i;
    }
    if (w->block->launch->check && r->d != NONE && (strangers || w->any_undefined)) {
        w->undefined[r->d] = (w->undefined[r->d] & ~mask) | undefined | strangers;
        if (strangers) {
            w->any_undefined = 1;
            w->undefined[w->block->launch->kernel->units] = r->line | OF_SHUFFLE;
        }
    }
    if (r->d != NONE) {
        uint32_t *into = u32_of(w, r->d);
        for (int i = 0; i < LANES; i++)
            if (mask >> i & 1) into[i] = out[i];
    }
    if (r->e != NONE) {
        uint32_t *into = u32_of(w, r->e);
        *into = (*into & ~mask) | (inside & mask);
    }
}

/* Each lane must be in its mask, and each live lane of a mask must be here. */
static void check_mask(struct warp *w, const struct row *r, uint32_t operand, uint32_t mask) {
    const uint32_t *masks = u32_of(w, operand);
    for (uint32_t left = mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        uint32_t wrong = (masks[i] & w->existing & ~w->exited & ~mask) | (~masks[i] & 1u << i);
        if (r->op == OP_WARP_BARRIER) /* maybe at different ones */
            for (uint32_t k = 0; k < w->group_count; k++)
                if (w->groups[k].waits == PARKED &&
                        w->block->launch->kernel->rows[w->groups[k].pc].op == OP_WARP_BARRIER)
                    wrong &= ~w->groups[k].mask;
        if (!wrong) continue;
        struct row at = *r;
        at.space = GENERIC;
        report(w, &at, BAD_MASK, __builtin_ctz(wrong), NULL, (int64_t)masks[i], (wrong >> i & 1) != 0, false, NULL);
        return;
    }
}

static void put(struct warp *w, uint32_t d, uint32_t mask, uint32_t value) {
    uint32_t *into = u32_of(w, d);
    for (int i = 0; i < LANES; i++)
        if (mask >> i & 1) into[i] = value;
}

static void vote(struct warp *w, const struct row *r, uint32_t mask) {
    uint32_t truth = *u32_of(w, r->a);
    if (r->flags & SIGNED) truth = ~truth; /* of !p */
    truth &= mask;
    if (r->size == VOTE_BALLOT) {
        put(w, r->d, mask, truth);
        return;
    }
    bool result = r->size == VOTE_ALL ? truth == mask : r->size == VOTE_ANY ? truth != 0 : truth == 0 || truth == mask;
    uint32_t *into = u32_of(w, r->d);
    *into = (*into & ~mask) | (result ? mask : 0);
}

static void match(struct warp *w, const struct row *r, uint32_t mask) {
    uint32_t all = mask;
    for (int i = 0; i < LANES; i++) {
        if (!(mask >> i & 1)) continue;
        uint32_t equal = 0;
        for (int k = 0; k < LANES; k++)
            if (mask >> k & 1)
                equal |= (uint32_t)(r->count == 8 ? u64_of(w, r->a)[k] == u64_of(w, r->a)[i]
                                                  : u32_of(w, r->a)[k] == u32_of(w, r->a)[i])
                        << k;
        all &= equal;
        if (r->size == MATCH_ANY) u32_of(w, r->d)[i] = equal;
    }
    if (r->size == MATCH_ALL) {
        put(w, r->d, mask, all == mask ? mask : 0);
        if (r->e != NONE) {
            uint32_t *into = u32_of(w, r->e);
            *into = (*into & ~mask) | (all == mask ? mask : 0);
        }
    }
}

static void redux(struct warp *w, const struct row *r, uint32_t mask) {
    const uint32_t *values = u32_of(w, r->a);
    uint32_t result = values[__builtin_ctz(mask)];
    for (uint32_t left = mask & (mask - 1); left; left &= left - 1) {
        uint32_t v = values[__builtin_ctz(left)];
        switch (r->size) {
        case REDUX_ADD: result += v; break;
        case REDUX_MIN:
            result = r->flags & SIGNED ? ((int32_t)v < (int32_t)result ? v : result) : v < result ? v : result;
            break;
        case REDUX_MAX:
            result = r->flags & SIGNED ? ((int32_t)v > (int32_t)result ? v : result) : v > result ? v : result;
            break;
        case REDUX_AND: result &= v; break;
        case REDUX_OR: result |= v; break;
        default: result ^= v;
        }
    }
    put(w, r->d, mask, result);
}

CHECKED static bool save_frame(struct warp *w, const struct row *r, uint32_t mask) {
    struct saved *more = w->saved_count < w->saved_room ? w->saved : grown(w->saved, &w->saved_room, 16, sizeof *more);
    if (more) w->saved = more;
    uint8_t *data = allocate(r->b, UNIT);
    if (!more || !data) {
        free(data);
        out_of_memory(w->block->launch);
        return false;
    }
    struct saved *it = &w->saved[w->saved_count++];
    *it = (struct saved){mask, r->a, r->b, data};
    memcpy(it->data, w->file + (size_t)r->a * UNIT, (size_t)r->b * UNIT);
    return true;
}

/* A 64-bit register takes two units, so each unit's kind counts. */
static void restore_frame(struct warp *w, const struct row *r, uint32_t mask) {
    for (uint32_t at = w->saved_count; at-- > 0 && mask;) {
        struct saved *it = &w->saved[at];
        uint32_t mine = it->mask & mask;
        if (it->unit != r->a || !mine) continue;
        mask &= ~mine;
        it->mask &= ~mine;
        uint8_t *frame = w->file + (size_t)r->a * UNIT;
        /* e: mask words in the pool, a bit per unit that begins a 64-bit register */
        for (uint32_t unit = 0; unit < it->units;) {
            const uint32_t *kinds = (const uint32_t *)w->pool + r->e;
            uint32_t kind = kinds[unit / 16] >> (2 * (unit % 16)) & 3; /* 0: 32 bits, 1: 64 bits, 2: a predicate */
            uint8_t *to = frame + (size_t)unit * UNIT, *from = it->data + (size_t)unit * UNIT;
            if (kind == 2) {
                uint32_t a, b;
                memcpy(&a, to, 4);
                memcpy(&b, from, 4);
                a = (a & ~mine) | (b & mine);
                memcpy(to, &a, 4);
                unit++;
            } else {
                uint32_t size = kind == 1 ? 8 : 4;
                for (int i = 0; i < LANES; i++)
                    if (mine >> i & 1) memcpy(to + size * (uint32_t)i, from + size * (uint32_t)i, size);
                unit += kind == 1 ? 2 : 1;
            }
        }
        if (!it->mask) {
            free(it->data);
            memmove(it, it + 1, (w->saved_count - at - 1) * sizeof *it);
            w->saved_count--;
        }
    }
}

static bool call(struct warp *w, const struct row *r, uint32_t mask, uint32_t target) {
    for (uint32_t left = mask; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        w->stack[i] += r->c;
        if (++w->call_depth[i] > MOST_CALLS || w->stack[i] > w->block->launch->kernel->local_bytes) {
            fault(w, r, STACK_OVERFLOW, i, NULL, 0, 0, false);
            return false;
        }
    }
    if (r->flags & RECURSIVE) {
        if (!save_frame(w, r, mask)) return false;
        if (w->block->launch->profile) profile_frame(w, r->b);
    }
    put(w, r->d, mask, w->pc + 1);
    if (w->active & ~mask) w->groups[w->group_count++] = (struct group){w->pc + 1, w->active & ~mask, 0};
    w->active = mask;
    w->pc = target;
    return true;
}

static bool returns(struct warp *w, const struct row *r, uint32_t mask) {
    uint32_t back[LANES];
    memcpy(back, u32_of(w, r->d), sizeof back);
    if (r->flags & RECURSIVE) {
        restore_frame(w, r, mask);
        if (w->block->launch->profile) profile_frame(w, r->b);
    }
    if (w->active & ~mask) w->groups[w->group_count++] = (struct group){w->pc + 1, w->active & ~mask, 0};
    while (mask) {
        uint32_t pc = back[__builtin_ctz(mask)], same = 0;
        if (pc >= w->block->launch->kernel->row_count) {
            fault(w, r, BAD_CALL, __builtin_ctz(mask), NULL, 0, 0, false);
            return false;
        }
        for (int i = 0; i < LANES; i++) same |= (uint32_t)(back[i] == pc) << i;
        w->groups[w->group_count++] = (struct group){pc, mask & same, 0};
        mask &= ~same;
    }
    w->active = 0;
    return next_group(w);
}

static void spread_undefined(struct warp *w, const struct row *r, uint32_t mask) {
    const uint32_t operands[4] = {r->a, r->b, r->c, r->e};
    uint32_t bad = 0, chosen = alu_selects(r) ? *u32_of(w, r->c) : 0;
    const uint32_t counts[4] = {alu_selects(r) ? chosen : EVERY, alu_selects(r) ? ~chosen : EVERY, EVERY, EVERY};
    for (int k = 0; k < 4; k++)
        if (operands[k] < w->block->launch->kernel->units) bad |= w->undefined[operands[k]] & counts[k];
    if (r->d < w->block->launch->kernel->units) w->undefined[r->d] = (w->undefined[r->d] & ~mask) | (bad & mask);
}

/* Sometimes gives another group a turn. False: other warps have one. */
static bool loops_on(struct warp *w, enum status *status) {
    if (++w->loops % TURN) return true;
    if (atomic_load_explicit(&w->block->launch->stop, memory_order_relaxed)) {
        *status = STOPPED;
        return false;
    }
    /* the longest wait */
    for (uint32_t i = 0; i < w->group_count; i++)
        if (w->groups[i].waits == 0) {
            struct group turn = w->groups[i];
            memmove(&w->groups[i], &w->groups[i + 1], (w->group_count - i - 1) * sizeof turn);
            w->groups[w->group_count - 1] = (struct group){w->pc, w->active, 0};
            w->pc = turn.pc;
            w->active = turn.mask;
            w->turn = TURN;
            break;
        }
    w->looped = w->loops >= (progress_hurries(w->block) ? FEW_LOOPS : MOST_LOOPS);
    return !w->looped;
}

enum status warp_run(struct warp *w, uint64_t *instructions) {
    const struct row *rows = w->block->launch->kernel->rows;
    bool check = w->block->launch->check;
    uint64_t count = 0;
    enum status status = RUNNING;
    struct profile *profile = w->block->launch->profile;
    struct step *step = w->block->launch->step;
    bool paused = step && step->paused; /* its groups have joined */
    if (!paused) {
        w->loops = w->blocked = w->failed = 0;
        if (!w->active && !next_group(w)) return w->group_count ? WAITING : DONE;
    }
    if (profile) profile_resumes(w);
    for (;;) {
        const struct row *r = &rows[w->pc];
        if (r->flags & JOIN && w->group_count && !paused) {
            join(w);
            r = &rows[w->pc];
        }
        if (step) {
            paused = false;
            if ((step->paused = step->left == 0)) {
                status = PAUSED;
                break;
            }
            step->left--;
        }
        count++;
        uint32_t mask = w->active;
        if (r->guard != NONE) {
            uint32_t guard = *u32_of(w, r->guard);
            if (w->any_undefined && !(r->guard & CONSTANT) && w->undefined[r->guard] & mask) {
                check_undefined_used(w, r, w->undefined[r->guard] & mask);
                w->undefined[r->guard] = 0;
            }
            mask &= r->flags & NEGATED ? ~guard : guard;
        }
        if (profile) profile_row(w, r, mask);
        if (r->op >= OP_CONTROL_COUNT) {
            if (mask) {
                alu_table[r->op - OP_CONTROL_COUNT](w, r, mask);
                if (w->any_undefined) spread_undefined(w, r, mask);
            }
            w->pc++;
            continue;
        }
        if (r->op == OP_BRANCH) {
            uint32_t others = w->active & ~mask, target = (uint32_t)r->imm;
            if (!mask) {
                w->pc++;
                continue;
            }
            bool back = target <= w->pc;
            if (profile && others) profile_split(w);
            if (!others) w->pc = target;
            else if (target < w->pc + 1) {
                w->groups[w->group_count++] = (struct group){w->pc + 1, others, 0};
                w->active = mask;
                w->pc = target;
            } else {
                w->groups[w->group_count++] = (struct group){target, mask, 0};
                w->active = others;
                w->pc++;
            }
            if (back && !loops_on(w, &status)) break;
            continue;
        }
        bool alive = true;
        if (!mask) {
            w->pc++;
            continue;
        }
        if (check && w->any_undefined && (r->op == OP_LOAD || r->op == OP_STORE || r->op == OP_ATOMIC) &&
                r->a < w->block->launch->kernel->units && w->undefined[r->a] & mask) {
            check_undefined_used(w, r, w->undefined[r->a] & mask);
            w->undefined[r->a] = 0;
        }
        switch (r->op) {
        case OP_NOP:
            if (r->size == SLEEPS) w->loops = MOST_LOOPS - 1;
            else if (r->size && profile) memory_prefetch(w, r, mask);
            w->pc++;
            break;
        case OP_LOAD:
            if (w->any_undefined) {
                const uint32_t outs[4] = {r->d, r->b, r->c, r->e};
                for (uint32_t k = 0; k < r->count; k++)
                    if (outs[k] != NONE) w->undefined[outs[k]] &= ~mask;
            }
            if (memory_load(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            /* caches see the warps in turn */
            if (profile && !(r->flags & STRONG) && r->space <= GLOBAL) goto out;
            break;
        case OP_STORE:
            if (memory_store(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            if (profile && !(r->flags & STRONG) && r->space <= GLOBAL) goto out;
            break;
        case OP_ATOMIC:
            if (memory_atomic(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            if (w->block->launch->shared_out) w->loops = MOST_LOOPS - 1; /* others work, too */
            w->pc++;
            break;
        case OP_EXIT: {
            uint32_t rest = w->active & ~mask;
            if (late_arrives(w, 0, r->line)) {
                status = STOPPED;
                goto out;
            }
            if (async_exits(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            leave(w, r, mask);
            if (rest) w->pc++;
            else alive = next_group(w);
            break;
        }
        case OP_BARRIER:
            if (w->active != mask) {
                w->groups[w->group_count++] = (struct group){w->pc + 1, w->active & ~mask, 0};
                w->active = mask;
            }
            alive = barrier(w, r, mask);
            break;
        case OP_WARP_BARRIER: {
            if (!together(w, r->a == NONE ? mask : members_of(w, r->a, mask))) break;
            if (check && r->a != NONE && r->guard == NONE) check_mask(w, r, r->a, w->active);
            w->warp_syncs++;
            w->segment = 0;
            w->pc++;
            break;
        }
        case OP_SHUFFLE:
        case OP_VOTE:
        case OP_MATCH:
        case OP_REDUX: {
            uint32_t before = w->active;
            if (!together(w, r->spare == NONE ? mask : members_of(w, r->spare, mask))) break;
            if (w->active != before) break; /* and guards */
            if (check && r->spare != NONE) check_mask(w, r, r->spare, mask);
            if (r->op == OP_SHUFFLE) shuffle(w, r, mask);
            else
                for (uint32_t left = mask; left;) {
                    uint32_t some = r->spare == NONE || r->spare & CONSTANT ? left : agreeing(w, r->spare, left);
                    if (r->op == OP_VOTE) vote(w, r, some);
                    else if (r->op == OP_MATCH) match(w, r, some);
                    else redux(w, r, some);
                    left &= ~some;
                }
            w->pc++;
            break;
        }
        case OP_ACTIVE_MASK:
            put(w, r->d, mask, w->active);
            w->pc++;
            break;
        case OP_ELECT: {
            uint32_t leader = (uint32_t)__builtin_ctz(mask);
            if (r->d != NONE) put(w, r->d, mask, leader);
            uint32_t *into = u32_of(w, r->e);
            *into = (*into & ~mask) | 1u << leader;
            w->pc++;
            break;
        }
        case OP_FENCE:
            if (check) {
                check_release(w);
                check_acquire(w);
            }
            w->pc++;
            break;
        case OP_COPY_LATE:
            if (copy_late(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            break;
        case OP_COMMIT:
            w->late_groups++;
            w->pc++;
            break;
        case OP_WAIT_GROUP:
            if (profile) profile_waits(w, (uint32_t)r->imm);
            if (late_arrives(w, (uint32_t)r->imm, r->line)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            break;
        case OP_LOCAL_ADDRESS: {
            uint64_t *out = u64_of(w, r->d);
            for (int i = 0; i < LANES; i++)
                if (mask >> i & 1) out[i] = (r->size ? LOCAL_BASE : 0) + w->stack[i] + (uint64_t)r->imm;
            w->pc++;
            break;
        }
        case OP_CLOCK:
            for (int i = 0; i < LANES; i++)
                if (mask >> i & 1) {
                    if (r->size == 8) u64_of(w, r->d)[i] = *instructions + count;
                    else u32_of(w, r->d)[i] = (uint32_t)(*instructions + count);
                }
            w->pc++;
            break;
        case OP_CALL:
            if (!call(w, r, mask, (uint32_t)r->imm)) {
                status = STOPPED;
                goto out;
            }
            break;
        case OP_CALL_INDIRECT: {
            uint64_t target = u64_of(w, r->e)[__builtin_ctz(mask)];
            uint32_t same = 0;
            for (int i = 0; i < LANES; i++) same |= (uint32_t)(u64_of(w, r->e)[i] == target) << i;
            /* a: the functions' rows in the pool; b: their number */
            const uint32_t *table = (const uint32_t *)w->pool + r->a;
            if (target < FUNCTION_BASE || target - FUNCTION_BASE >= r->b || table[target - FUNCTION_BASE] == NONE) {
                fault(w, r, BAD_CALL, __builtin_ctz(mask), NULL, 0, 0, false);
                status = STOPPED;
                goto out;
            }
            if (mask & ~same) {
                w->groups[w->group_count++] = (struct group){w->pc, mask & ~same, 0};
                w->active &= ~(mask & ~same);
                mask &= same;
            }
            if (!call(w, r, mask, table[target - FUNCTION_BASE])) {
                status = STOPPED;
                goto out;
            }
            break;
        }
        case OP_RETURN:
            alive = returns(w, r, mask);
            if (atomic_load_explicit(&w->block->launch->stop, memory_order_relaxed)) {
                status = STOPPED;
                goto out;
            }
            if (alive && r->flags & RECURSIVE && !loops_on(w, &status)) goto out;
            break;
        case OP_POP:
            for (int i = 0; i < LANES; i++)
                if (mask >> i & 1) {
                    w->stack[i] -= r->c;
                    w->call_depth[i]--;
                }
            w->pc++;
            break;
        case OP_BRANCH_INDEX: { /* b: the rows in the pool; c: their number */
            const uint32_t *index = u32_of(w, r->a), *table = (const uint32_t *)w->pool + r->b;
            uint32_t left = mask, places = w->group_count, from = w->pc;
            if (w->active & ~mask) w->groups[w->group_count++] = (struct group){w->pc + 1, w->active & ~mask, 0};
            while (left) {
                int first = __builtin_ctz(left);
                uint32_t same = 0;
                for (int i = 0; i < LANES; i++) same |= (uint32_t)(index[i] == index[first]) << i;
                if (index[first] >= r->c) {
                    fault(w, r, BAD_CALL, first, NULL, 0, 0, false);
                    status = STOPPED;
                    goto out;
                }
                w->groups[w->group_count++] = (struct group){table[index[first]], left & same, 0};
                left &= ~same;
            }
            if (profile && w->group_count > places + 1) profile_split(w);
            w->active = 0;
            alive = next_group(w);
            if (w->pc <= from && !loops_on(w, &status)) goto out;
            break;
        }
        case OP_TRAP:
            fault(w, r, TRAPPED, __builtin_ctz(mask), NULL, 0, 0, false);
            status = STOPPED;
            goto out;
        case OP_HEAP:
            if (heap_run(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            break;
        case OP_TEXTURE:
            if (texture_run(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            break;
        case OP_PRINT:
            if (print_formatted(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            break;
        case OP_ASSERT:
            if (print_assertion(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            break;
        case OP_ASYNC: {
            int how = async_run(w, r, mask);
            if (how == ASYNC_STOPPED) {
                status = STOPPED;
                goto out;
            }
            if (w->failed) w->loops = MOST_LOOPS - 1;
            if (how == ASYNC_DONE) {
                w->pc++;
                break;
            }
            count--;
            if (profile) profile_blocked(w, mask);
            if (!give_way(w)) {
                status = WAITING;
                goto out;
            }
            break;
        }
        case OP_MATRIX:
            if (matrix_run(w, r, mask)) {
                status = STOPPED;
                goto out;
            }
            w->pc++;
            break;
        default:
            fault(w, r, BAD_CALL, __builtin_ctz(mask), NULL, 0, 0, false);
            status = STOPPED;
            goto out;
        }
        if (!alive) {
            status = w->group_count ? WAITING : DONE;
            break;
        }
    }
out:
    *instructions += count;
    return status;
}
