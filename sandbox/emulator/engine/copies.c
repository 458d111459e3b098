/* cp.async reads at once, and writes when a thread waits. */
#include <string.h>

#include "async.h"
#include "memory.h"

CHECKED static struct late *late_room(struct warp *w) {
    if (w->late_count == w->late_room) {
        struct late *more = grown(w->late, &w->late_room, 64, sizeof *more);
        if (!more) {
            out_of_memory(w->block->launch);
            return NULL;
        }
        w->late = more;
    }
    return &w->late[w->late_count++];
}

int copy_late(struct warp *w, const struct row *r, uint32_t mask) {
    uint64_t to_room[LANES], from_room[LANES];
    const uint64_t *to = row_addresses(w, r, r->a, 1, r->imm, to_room);
    const uint64_t *from = row_addresses(w, r, r->b, 2, (int32_t)r->e, from_room);
    struct row read = *r;
    read.space = GLOBAL;
    progress_made(w);
    if (w->block->launch->profile && mask) {
        struct row none = *r;
        none.d = none.b = none.c = none.e = NONE;
        profile_global(w, r, from, mask, r->size, COPIES);
        profile_shared(w, &none, to, mask, r->size, WRITES);
    }
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint32_t bytes = r->c == NONE ? r->size : u32_of(w, r->c)[lane];
        if (bytes > r->size) bytes = r->size;
        struct late late = {.to = to[lane], .group = w->late_groups, .size = r->size, .lane = (uint8_t)lane};
        if (bytes) {
            struct place p;
            uint32_t aligned = bytes == r->size ? r->size : 1;
            if (!place_of(w, &read, from, 1u << lane, GLOBAL, aligned, false, &p)) return 1;
            if (p.offsets[lane] + bytes > p.region->size) {
                fault(w, &read, OUT_OF_BOUNDS, lane, p.region, (int64_t)p.offsets[lane], bytes, false);
                return 1;
            }
            if (p.region->lazy) region_fill(w->block->launch->engine, p.region, p.offsets[lane], bytes);
            memcpy(late.data, p.data + p.offsets[lane], bytes);
            if (w->block->launch->check && p.region->written)
                check_access(w, &read, p.region, p.offsets, 1u << lane, bytes, false, false);
            if (w->block->launch->check && p.valid && memchr(p.valid + p.offsets[lane], 0, bytes))
                late.unwritten = !check_left_out(w);
        }
        struct late *room = late_room(w);
        if (!room) return 1;
        *room = late;
    }
    return 0;
}

static int arrives(struct warp *w, const struct late *it, struct row *row) {
    if (it->arrives) {
        w->late_arrivals--;
        return mbarrier_late_arrives(w, row, it->to, it->lane);
    }
    uint8_t *at = memory_at(w, row, it->to >= SHARED_BASE ? it->to & 0xffffffff : it->to, it->size, it->lane, true);
    if (at == NULL) return 1;
    memcpy(at, it->data, it->size);
    const struct block *block = w->block;
    if (it->unwritten && block->shared_valid && at >= block->shared && at < block->shared + block->shared_region.size)
        memset(block->shared_valid + (at - block->shared), 0, it->size);
    return 0;
}

int late_arrives(struct warp *w, uint32_t groups_left, uint32_t line) {
    uint32_t kept = 0, count = w->late_count;
    struct row row = {.space = SHARED, .line = line, .spare = NONE};
    if (count == 0) return 0;
    check_copies(w, true);
    for (uint32_t i = 0; i < count; i++) {
        struct late it = w->late[i];
        if (it.group + groups_left >= w->late_groups && groups_left) {
            w->late[kept++] = it;
            continue;
        }
        if (arrives(w, &it, &row)) return 1;
    }
    check_copies(w, false);
    w->late_count = kept;
    return 0;
}

int late_arrives_at(struct warp *w, uint32_t offset) {
    struct row row = {.space = SHARED, .line = w->wait_line, .spare = NONE};
    for (uint32_t i = 0; i < w->late_count && w->late_arrivals; i++) {
        if (!w->late[i].arrives || w->late[i].to != offset) continue;
        uint32_t kept = 0, lane = w->late[i].lane;
        check_copies(w, true);
        for (uint32_t k = 0; k < w->late_count; k++) {
            struct late it = w->late[k];
            if (k > i || it.lane != lane) {
                w->late[kept++] = it;
                continue;
            }
            if (arrives(w, &it, &row)) return 1;
        }
        check_copies(w, false);
        w->late_count = kept;
        i = (uint32_t)-1;
    }
    return 0;
}

/* a: the mbarrier; count: enum copies. */
static int late_arrival(struct warp *w, const struct row *r, uint32_t mask) {
    uint64_t room[LANES];
    const uint64_t *address = row_addresses(w, r, r->a, 1, r->imm, room);
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t to = address[lane] >= SHARED_BASE ? address[lane] & 0xffffffff : address[lane];
        struct late *it = late_room(w);
        if (!it) return 1;
        *it = (struct late){.to = to, .group = w->late_groups, .lane = (uint8_t)lane, .arrives = r->count};
        w->late_arrivals++;
    }
    return 0;
}

/* The phase waits for an arrival that was not counted before. */
int copies_arrive(struct warp *w, const struct row *r, uint32_t mask) {
    for (uint32_t left = r->count == COUNTED_NOW ? mask : 0; left; left &= left - 1)
        if (mbarrier_expects_one(w, r, __builtin_ctz(left))) return 1;
    return late_arrival(w, r, mask);
}
