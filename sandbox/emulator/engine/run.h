#ifndef RUN_H
#define RUN_H
#include "engine.h"

/* PAUSED: before a row, see struct step. */
enum status { RUNNING, WAITING, DONE, STOPPED, PAUSED };
/* Until it waits, ends, is stopped or paused, or has looped for long. */
enum status warp_run(struct warp *, uint64_t *instructions);
/* launch.c. False: no memory. */
CHECKED bool checks_begin(struct launch *);
void checks_end(struct launch *);
/* Reused for the next block. NULL: no memory. */
CHECKED struct block *block_new(struct worker *);
void block_delete(struct block *);
/* ``number``: the cluster's in the grid. */
void block_begin(struct block *, uint64_t number, struct cluster *, uint32_t rank);
int print_assertion(struct warp *, const struct row *, uint32_t mask);
#endif
