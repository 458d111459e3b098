/* Matrix instructions: ldmatrix, mma and wmma. A fragment's elements lie in lanes and registers as PTX says for mma. */
#include <string.h>

#include "engine.h"
#include "numbers.h"

/* ldmatrix: a: each lane's address of a row of 8 x 16 bits; count: 1, 2 or 4 matrices; size: 1 where they are transposed. */
static int load_matrices(struct warp *w, const struct row *r, uint32_t mask) {
    const uint32_t outs[4] = {r->d, r->b, r->c, r->e};
    uint64_t room[LANES];
    const uint64_t *address = wide_of(w, r->a, r->wide >> 1 & 1, room);
    uint16_t rows[8][8];
    for (uint32_t k = 0; k < r->count; k++) {
        for (int i = 0; i < 8; i++) {
            int lane = (int)k * 8 + i;
            uint8_t *at = memory_at(w, r, address[lane] + (uint64_t)r->imm, 16, lane, false, NULL);
            if (!at) return 1;
            memcpy(rows[i], at, 16);
        }
        uint32_t *out = u32_of(w, outs[k]);
        for (int i = 0; i < LANES; i++) {
            int row = i / 4, column = i % 4 * 2;
            uint16_t low = r->size ? rows[column][row] : rows[row][column], high = r->size ? rows[column + 1][row] : rows[row][column + 1];
            if (mask >> i & 1) out[i] = (uint32_t)high << 16 | low;
        }
    }
    return 0;
}

int matrix_run(struct warp *w, const struct row *r, uint32_t mask) {
    if (r->space == SHARED || r->space == GENERIC) return load_matrices(w, r, mask);
    fault(w, r, BAD_CALL, __builtin_ctz(mask), NULL, 0, 0, false);
    return 1;
}
