/* Of sm_90's asynchronous instructions. */
#ifndef ASYNC_H
#define ASYNC_H
#include "engine.h"

enum async_kind { ASYNCS(NUMBERED) };
enum arrivals { ARRIVALS(NUMBERED) };
enum copies { COPIES(NUMBERED) };

/* ``clock``: publications of this phase's arrivals, then of earlier ones'. */
struct mbarrier {
    uint32_t offset, expected, pending, phase, completed, line, made; /* made: its entry in the race check */
    int64_t bytes;
    uint32_t *clock;
    uint64_t pending_cycle, cycle;
};

/* ``data``: the bytes, unless copied from the block ``from``. ``how``: 0, or 1 + an atomic operation | its type << 8. */
struct transfer {
    struct warp *warp;
    struct block *to, *from;
    uint8_t *data;
    uint64_t offset, size, from_offset, cycle;
    uint32_t mbarrier, phase, line, lane, swizzle, how;
};

enum { THREADS_SLOT, READS_SLOT, WRITES_SLOT, PRODUCTS_SLOT };
/* clocks.c */
uint32_t clock_slot(const struct warp *, uint32_t kind);
uint32_t clock_mbarrier_slot(const struct block *, uint32_t number);
void clock_join(uint32_t *into, const uint32_t *from, uint32_t words);
void clock_publish(struct warp *, uint32_t *into);
/* ``from``: NULL if unknown: everything. */
void clock_learn(struct warp *, const uint32_t *from);
void clock_reaches(struct warp *, uint32_t slot, uint32_t epoch);
void clock_fence(struct warp *);

/* mbarriers.c: 1, or NULL for a recorded fault. */
int mbarrier_run(struct warp *, const struct row *, uint32_t mask);
/* Of a lane's operand a. */
struct mbarrier *mbarrier_at(struct warp *, const struct row *, int lane, struct span *);
struct mbarrier *mbarrier_of(
        struct warp *, const struct row *, uint64_t address, uint32_t space, int lane, struct block **owner);
/* ``bytes``: fewer to wait for, or more if negative. */
int mbarrier_completes(struct warp *, const struct row *, struct block *, struct mbarrier *, int64_t bytes, int lane);
int mbarrier_expects_one(struct warp *, const struct row *, int lane);
/* Of a lane, after its copies. */
int mbarrier_late_arrives(struct warp *, const struct row *, uint64_t address, int lane);
/* A lane accesses the 8 bytes, for the race check. */
void mbarrier_touched(struct warp *, const struct row *, struct span *, int lane, bool writes, bool atomic);

/* copies.c: arrivals after copies of cp.async */
int copies_arrive(struct warp *, const struct row *, uint32_t mask);
/* Finishes the warp's copies that arrive at the mbarrier at ``offset``. */
int late_arrives_at(struct warp *, uint32_t offset);

/* bulk.c */
int bulk_copy(struct warp *, const struct row *, uint32_t mask);
int bulk_commit(struct warp *);
int bulk_wait(struct warp *, const struct row *, uint32_t left, bool reads_only);
/* Finishes copies to an mbarrier. */
int bulk_arrives(struct warp *, struct block *, uint32_t mbarrier);
void bulk_forget(struct block *);
int bulk_exits(struct warp *, const struct row *, uint32_t mask);

/* wgmma.c */
int product_run(struct warp *, const struct row *, uint32_t mask);
#endif
