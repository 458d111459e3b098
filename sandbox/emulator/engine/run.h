/* Between the parts that run: warps, blocks and launches. */
#ifndef RUN_H
#define RUN_H
#include "engine.h"

/* PAUSED: before a row, see struct step. */
enum status { RUNNING, WAITING, DONE, STOPPED, PAUSED };
/* Runs until the warp waits at a barrier, ends, is stopped or paused, or has looped for long. */
enum status warp_run(struct warp *, uint64_t *instructions);
/* launch.c: what the checks of a launch need. False: there is no memory. */
CHECKED bool checks_begin(struct launch *);
void checks_end(struct launch *);
/* A block, which is used again for the next one. NULL: there is no memory. */
CHECKED struct block *block_new(struct worker *);
void block_delete(struct block *);
/* ``number``: of the cluster in the grid. */
void block_begin(struct block *, uint64_t number, struct cluster *, uint32_t rank);
int print_assertion(struct warp *, const struct row *, uint32_t mask);
#endif
