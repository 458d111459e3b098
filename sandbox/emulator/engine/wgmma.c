#include "async.h"
int product_run(struct warp *w, const struct row *r, uint32_t mask) { fault(w, r, BAD_CALL, __builtin_ctz(mask), NULL, 0, 0, false); return 1; }
