/* Between the parts that run: warps, blocks and launches. */
#ifndef RUN_H
#define RUN_H
#include "engine.h"

enum status { RUNNING, WAITING, DONE, STOPPED };
/* Runs until the warp waits at a barrier, ends, is stopped, or has looped for long. */
enum status warp_run(struct warp *, uint64_t *instructions);
int print_assertion(struct warp *, const struct row *, uint32_t mask);
#endif
