/* PTX leaves wmma's layout open: here elements go through each lane's registers, lane by lane, and repeat if there is
 * room. */
#include <string.h>

#include "engine.h"
#include "memory.h"
#include "numbers.h"
#include "sums.h"

enum matrix_kind { MATRICES(NUMBERED) };
enum matrix_operand { OPERANDS(NUMBERED) };
enum matrix_moves { MATRIX_MOVES(NUMBERED) };
enum { MOST = 16 * 256 };

/* In the pool at word r->a, by lower/matrices.py. */
struct matrix { uint32_t kind, m, n, k, types[4], which, a_by_row, b_by_row, flag, counts[4], units[64]; };

static uint32_t bits_of_type(uint32_t type) {
    static const uint8_t bits[] = {[F16] = 16,
            [BF16] = 16,
            [TF32] = 32,
            [F32] = 32,
            [F64] = 64,
            [S8] = 8,
            [U8] = 8,
            [S32] = 32,
            [S4] = 4,
            [U4] = 4,
            [B1] = 1,
            [E4M3] = 8,
            [E5M2] = 8};
    return bits[type];
}

static double get(struct warp *w, uint32_t unit, uint32_t type, uint32_t j, int lane) {
    if (type == F64) return ((const double *)unit_of(w, unit))[lane];
    uint32_t word = u32_of(w, unit)[lane];
    switch (type) {
    case F16: return f16_value((uint16_t)(word >> 16 * j));
    case BF16: return bf16_value((uint16_t)(word >> 16 * j));
    case TF32: return f32_of(word & 0xffffe000u);
    case F32: return f32_of(word);
    case S8: return (int8_t)(word >> 8 * j);
    case U8: return (uint8_t)(word >> 8 * j);
    case S4: return (int32_t)(word << (28 - 4 * j)) >> 28;
    case U4: return word >> 4 * j & 15;
    case B1: return word >> j & 1;
    case E4M3: return fp8_value((uint8_t)(word >> 8 * j), 4);
    case E5M2: return fp8_value((uint8_t)(word >> 8 * j), 5);
    default: return (int32_t)word;
    }
}

static void set(struct warp *w, uint32_t unit, uint32_t type, uint32_t j, int lane, double value) {
    if (type == F64) {
        ((double *)unit_of(w, unit))[lane] = value;
        return;
    }
    uint32_t *word = u32_of(w, unit) + lane;
    if (type == F16) *word = (*word & ~(0xffffu << 16 * j)) | (uint32_t)f16_bits(value) << 16 * j;
    else if (type == S32) *word = (uint32_t)(int64_t)value;
    else *word = bits_of((float)value);
}

/* Of a fragment's element. which: A (m x k), B (k x n), or C and D (m x n). */
static void position(const struct matrix *it, uint32_t which, uint32_t i, uint32_t j, uint32_t per, int lane,
        uint32_t *row, uint32_t *column) {
    uint32_t rows = which == OPERAND_B ? it->k : it->m, columns = which == OPERAND_A ? it->k : it->n,
             count = it->counts[which == OPERAND_D ? 0 : which + 1];
    if (it->kind != MULTIPLY_MMA && it->kind != MULTIPLY_SPARSE) {
        uint32_t index = ((uint32_t)lane * count * per + i * per + j) % (rows * columns);
        *row = index / columns;
        *column = index % columns;
        if (which == OPERAND_B && per >= 8) {
            *row = index % rows;
            *column = index / rows;
        }
        return;
    }
    uint32_t g = (uint32_t)lane >> 2, t = (uint32_t)lane & 3, tall = it->m == 16;
    if (which == OPERAND_A) {
        *row = g + (tall ? 8 * (i & 1) : 0);
        *column = per * t + 4 * per * (tall ? i >> 1 : i) + j;
    } else if (which == OPERAND_B) {
        *row = per * t + 4 * per * i + j;
        *column = g;
    } else {
        uint32_t at = i * per + j;
        *row = g + 8 * (at >> 1);
        *column = 2 * t + (at & 1);
    }
    *row %= rows;
    *column %= columns;
}

/* Places in the matrix by lane and element, of the thread's last shape. */
/* Ensured by lower/matrices.py. */
struct places_kept {
    uint32_t key[7];
    uint16_t at[MOST];
    uint8_t rows[MOST], columns[MOST];
};
static const struct places_kept *places_in(
        struct places_kept *kept, const struct matrix *it, uint32_t which, uint32_t count, uint32_t per) {
    uint32_t key[7] = {it->kind, it->m, it->n, it->k, it->counts[which == OPERAND_D ? 0 : which + 1], count, per}, row,
             column, columns = which == OPERAND_A ? it->k : it->n;
    if (memcmp(kept->key, key, sizeof key) == 0) return kept;
    memcpy(kept->key, key, sizeof key);
    for (uint32_t i = 0; i < count * per; i++)
        for (int lane = 0; lane < LANES; lane++) {
            position(it, which, i / per, i % per, per, lane, &row, &column);
            uint32_t at = i * LANES + (uint32_t)lane;
            kept->at[at] = (uint16_t)(row * columns + column);
            kept->rows[at] = (uint8_t)row;
            kept->columns[at] = (uint8_t)column;
        }
    return kept;
}
static const uint16_t *places_of(const struct matrix *it, uint32_t which, uint32_t count, uint32_t per) {
    static _Thread_local struct places_kept kept[3];
    return places_in(&kept[which], it, which, count, per)->at;
}

/* Of wmma, whose lanes have elements in turn; if several have one, the last one's counts. False: it is another layout or
 * type. */
static bool collect_in_turn(struct warp *w, const struct matrix *it, uint32_t which, uint32_t first, uint32_t count,
        uint32_t type, double *into) {
    uint32_t per = type == F16 || type == BF16 ? 2 : 1,
             all = (which == OPERAND_B ? it->k : it->m) * (which == OPERAND_A ? it->k : it->n), own = count * per;
    if (it->kind != MULTIPLY_WMMA || (type != F16 && type != BF16 && type != F32) || own == 0 || all % own ||
            LANES % (all / own) || all > own * LANES || own != it->counts[which == OPERAND_D ? 0 : which + 1] * per)
        return false;
    uint32_t words[MOST / 2], lanes = all / own;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *unit = u32_of(w, it->units[first + i]) + LANES - lanes;
        for (uint32_t lane = 0; lane < lanes; lane++) words[lane * count + i] = unit[lane];
    }
    if (type == F16) f16_values((const uint16_t *)words, all, into);
    for (uint32_t i = 0; i < all && type == F32; i++) into[i] = f32_of(words[i]);
    for (uint32_t i = 0; i < all && type == BF16; i++) into[i] = bf16_value((uint16_t)(words[i / 2] >> 16 * (i & 1)));
    return true;
}

static void collect(struct warp *w, const struct matrix *it, uint32_t which, uint32_t first, uint32_t count,
        uint32_t type, double *into) {
    if (collect_in_turn(w, it, which, first, count, type, into)) return;
    uint32_t per = bits_of_type(type) >= 32 ? 1 : 32 / bits_of_type(type);
    const uint16_t *at = places_of(it, which, count, per);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < per; j++, at += LANES) {
            const uint32_t unit = it->units[first + i], *words = u32_of(w, unit);
            if (type == F16)
                for (int lane = 0; lane < LANES; lane++) into[at[lane]] = f16_value((uint16_t)(words[lane] >> 16 * j));
            else if (type == BF16)
                for (int lane = 0; lane < LANES; lane++) into[at[lane]] = bf16_value((uint16_t)(words[lane] >> 16 * j));
            else if (type == F32)
                for (int lane = 0; lane < LANES; lane++) into[at[lane]] = f32_of(words[lane]);
            else
                for (int lane = 0; lane < LANES; lane++) into[at[lane]] = get(w, unit, type, j, lane);
        }
}

/* float32, into c. For 8-bit floats a card converts to float16, multiplies elements 0 and 1 of each four, then the
 * others, and adds the old value last. */
static void add_floats(const struct matrix *it, const double *a, const double *b, double *c) {
    static _Thread_local int16_t a_exponents[MOST], b_exponents[MOST];
    static _Thread_local double left[MOST], right[MOST];
    uint32_t m = it->m, n = it->n, k = it->k;
    bool eight = it->types[0] == E4M3 || it->types[0] == E5M2;
    if (eight) {
        for (uint32_t i = 0; i < k; i++) {
            uint32_t to = (i & 2 ? k / 2 : 0) + i / 4 * 2 + (i & 1);
            for (uint32_t row = 0; row < m; row++) left[row * k + to] = a[row * k + i];
            memcpy(right + to * n, b + i * n, n * sizeof *b);
        }
        a = left;
        b = right;
    }
    exponents_of(a, m * k, LOWEST[it->types[0]], a_exponents);
    exponents_of(b, k * n, LOWEST[it->types[1]], b_exponents);
    for (uint32_t row = 0; row < m; row++) {
        double sums[MOST_COLUMNS] = {0};
        if (!eight) {
            add_products(WIDE_ADDER, k, n, a + row * k, a_exponents + row * k, b, b_exponents, c + row * n);
            continue;
        }
        for (uint32_t part = 0; part < k; part += k / 2)
            add_products(WIDE_ADDER, k / 2, n, a + row * k + part, a_exponents + row * k + part, b + part * n,
                    b_exponents + part * n, sums);
        for (uint32_t column = 0; column < n; column++) c[row * n + column] += sums[column];
    }
}

/* Registers hold half of mma.sp's sparse A. Each chunk of a row has 4 bits of the metadata ``e``: two places among 4
 * elements, or 4 pairs of 4-bit ones; a 32-bit element counts as two places. ``which`` selects the lanes with a row's
 * bits: 16 bits for each of two rows, or 32 of one if elements have fewer than 16 bits. */
static void collect_sparse(struct warp *w, const struct matrix *it, const uint32_t *e, double *into) {
    static _Thread_local double packed[MOST];
    struct matrix half = *it;
    uint32_t bits = bits_of_type(it->types[0]), width = bits == 4 ? 8 : bits == 32 ? 2 : 4, chunks = it->k / width;
    half.k = it->k / 2;
    collect(w, &half, 0, it->counts[0], it->counts[1], it->types[0], packed);
    memset(into, 0, sizeof(double) * it->m * it->k);
    for (uint32_t row = 0; row < it->m; row++)
        for (uint32_t chunk = 0; chunk < chunks; chunk++) {
            uint32_t upper = row / 8 % 2, lane = row % 8 * 4, shift, places;
            if (bits >= 16) {
                lane += chunks == 4 ? it->which % 4 : it->which % 2 * 2 + chunk / 4 % 2;
                shift = 16 * upper + chunk % 4 * 4;
            } else {
                lane += (chunks == 8 ? it->which % 2 * 2 : chunk / 8 % 2 * 2) + upper;
                shift = chunk % 8 * 4;
            }
            places = e[lane] >> shift;
            for (uint32_t j = 0; j < width / 2; j++) {
                uint32_t place = bits == 32 ? places >> 1 & 1
                        : bits == 4         ? (places >> j / 2 * 2 & 3) * 2 + j % 2
                                            : places >> 2 * j & 3;
                into[row * it->k + chunk * width + place] = packed[row * half.k + chunk * width / 2 + j];
            }
        }
}

/* An element of the result is undefined if any of its row of A, any of its column of B, or its element of C is. Integer
 * results never are: an unwritten operand times 0 is 0. */
static void spread_undefined(struct warp *w, const struct matrix *it) {
    bool rows[MOST_COLUMNS] = {false}, columns[MOST_COLUMNS] = {false}, any = false;
    static _Thread_local bool old[MOST];
    static _Thread_local struct places_kept kept[3];
    uint32_t first = it->counts[0], last = first;
    memset(old, 0, sizeof old);
    for (uint32_t which = 0; which < 3; which++, first = last) {
        uint32_t count = it->counts[which + 1] - (which == 2 && it->kind == MULTIPLY_SPARSE),
                 bits = bits_of_type(it->types[which]), per = bits >= 32 ? 1 : 32 / bits;
        const struct places_kept *places = places_in(&kept[which], it, which, count, per);
        last = first + count;
        for (uint32_t i = 0; i < count * per; i++) {
            const uint32_t unit = it->units[first + i / per];
            for (uint32_t left = unit & CONSTANT ? 0 : w->undefined[unit]; left; left &= left - 1) {
                uint32_t at = i * LANES + (uint32_t)__builtin_ctz(left);
                any = true;
                if (which == 0) rows[places->rows[at]] = true;
                else if (which == 1) columns[places->columns[at]] = true;
                else old[places->at[at]] = true;
            }
        }
    }
    for (uint32_t i = 0; i < it->counts[0]; i++) w->undefined[it->units[i]] = 0;
    if (!any || check_left_out(w) || it->types[3] == S32) return;
    uint32_t per = it->types[3] == F16 ? 2 : 1;
    const struct places_kept *places = places_in(&kept[2], it, 2, it->counts[0], per);
    for (uint32_t i = 0; i < it->counts[0] * per; i++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t at = i * LANES + lane;
            if (rows[places->rows[at]] || columns[places->columns[at]] || old[places->at[at]])
                w->undefined[it->units[i / per]] |= 1u << lane;
        }
}

static void multiply(struct warp *w, const struct matrix *it) {
    static _Thread_local double a[MOST], b[MOST], c[MOST];
    bool sparse = it->kind == MULTIPLY_SPARSE;
    uint32_t d_count = it->counts[0], a_count = it->counts[1], b_count = it->counts[2],
             c_count = it->counts[3] - sparse;
    if (sparse) collect_sparse(w, it, u32_of(w, it->units[d_count + a_count + b_count + c_count]), a);
    else collect(w, it, 0, d_count, a_count, it->types[0], a);
    collect(w, it, 1, d_count + a_count, b_count, it->types[1], b);
    collect(w, it, 2, d_count + a_count + b_count, c_count, it->types[2], c);
    bool floats = it->types[3] == F32 && it->types[2] == F32;
    if (floats) add_floats(it, a, b, c);
    for (uint32_t row = 0; row < it->m && !floats; row++)
        for (uint32_t column = 0; column < it->n; column++) {
            double sum = c[row * it->n + column];
            if (it->types[0] == B1) /* in both, or with the flag in exactly one */
                for (uint32_t k = 0; k < it->k; k++)
                    sum += it->flag ? a[row * it->k + k] != b[k * it->n + column]
                                    : a[row * it->k + k] * b[k * it->n + column];
            else
                for (uint32_t k = 0; k < it->k; k++) sum += a[row * it->k + k] * b[k * it->n + column];
            if (it->types[3] == S32) {
                if (it->flag && it->types[0] != B1)
                    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
                else sum = (int32_t)(uint32_t)(int64_t)sum;
            }
            c[row * it->n + column] = sum;
        }
    if (it->kind == MULTIPLY_WMMA && it->types[3] == F32 && d_count * LANES == it->m * it->n) {
        for (uint32_t i = 0; i < d_count; i++) {
            uint32_t *words = u32_of(w, it->units[i]);
            for (uint32_t lane = 0; lane < LANES; lane++) words[lane] = bits_of((float)c[lane * d_count + i]);
        }
        return;
    }
    uint32_t per = it->types[3] == F16 ? 2 : 1;
    const uint16_t *at = places_of(it, 2, d_count, per);
    for (uint32_t i = 0; i < d_count; i++)
        for (uint32_t j = 0; j < per; j++, at += LANES) {
            uint32_t *words = u32_of(w, it->units[i]);
            if (it->types[3] == F32)
                for (int lane = 0; lane < LANES; lane++) words[lane] = bits_of((float)c[at[lane]]);
            else
                for (int lane = 0; lane < LANES; lane++) set(w, it->units[i], it->types[3], j, lane, c[at[lane]]);
        }
}

/* mma.m8n8k4 of f16: one for each quad of lanes and the one 16 further. */
static void multiply_quads(struct warp *w, const struct matrix *it) {
    const uint32_t *d = it->units, *a = d + it->counts[0], *b = a + it->counts[1], *c = b + it->counts[2];
    for (int quad = 0; quad < 4; quad++) {
        double left[8][4], right[4][8], sums[8][8];
        for (int pass = 0; pass < 3; pass++)
            for (int k = 0; k < 8; k++) {
                int lane = 4 * quad + (k & 3) + (k & 4 ? 16 : 0), upper = k & 4;
                for (int i = 0; i < 4 && pass == 0; i++) {
                    double x = get(w, a[i / 2], F16, i & 1, lane), y = get(w, b[i / 2], F16, i & 1, lane);
                    if (it->a_by_row) left[(lane & 3) + upper][i] = x;
                    else left[i + upper][lane & 3] = x;
                    if (it->b_by_row) right[lane & 3][i + upper] = y;
                    else right[i][(lane & 3) + upper] = y;
                }
                for (int i = 0; i < 8 && pass; i++) {
                    uint32_t type = it->types[pass == 1 ? 2 : 3], half = type == F16;
                    int row = half ? (lane & 3) + upper : (lane & 1) + (i & 2) + upper,
                        column = half ? i : (i & 4) + (lane & 2) + (i & 1);
                    if (pass == 2) {
                        set(w, d[half ? i / 2 : i], type, i & 1, lane, sums[row][column]);
                        continue;
                    }
                    double sum = get(w, c[half ? i / 2 : i], type, i & 1, lane);
                    for (int j = 0; j < 4; j++) sum += left[row][j] * right[j][column];
                    sums[row][column] = sum;
                }
            }
    }
}

/* 8 x 8 numbers of 16 bits; lane i has two of row i / 4. */
static void transpose(struct warp *w, const struct matrix *it, uint32_t mask) {
    const uint32_t *from = u32_of(w, it->units[1]);
    uint32_t out[LANES], *to = u32_of(w, it->units[0]);
    for (int i = 0; i < LANES; i++) {
        int row = i / 4, column = i % 4 * 2, shift = 16 * (row & 1);
        out[i] = (from[4 * column + row / 2] >> shift & 0xffff) |
                (from[4 * column + 4 + row / 2] >> shift & 0xffff) << 16;
    }
    for (int i = 0; i < LANES; i++)
        if (mask >> i & 1) to[i] = out[i];
}

/* The lanes of each granule of a matrix of ``lines`` x ``along`` elements in memory, of which each lane has ``own`` in
 * turn, by row or by column of memory. NULL: it is too large. */
static const struct tile_lanes *lanes_of(
        uint32_t lines, uint32_t along, uint32_t own, bool by_row, uint32_t size, uint32_t granule) {
    static _Thread_local struct lanes_kept {
        uint32_t key[6];
        struct tile_lanes lanes;
    } kept[4];
    static _Thread_local uint32_t turn;
    const uint32_t key[6] = {lines, along, own, by_row, size, granule}, total = lines * along,
                   granules = total * size / granule;
    for (uint32_t i = 0; i < 4; i++)
        if (memcmp(kept[i].key, key, sizeof key) == 0) return &kept[i].lanes;
    struct lanes_kept *it = &kept[turn++ % 4];
    struct tile_lanes *into = &it->lanes;
    uint8_t counts[TILE_BYTES] = {0};
    memset(it->key, 0, sizeof it->key);
    for (uint32_t i = 0; i < own; i++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t index = (lane * own + i) % total, at = by_row ? index : index % lines * along + index / lines;
            for (uint32_t g = at * size / granule; g <= (at * size + size - 1) / granule; g++) {
                if (counts[g] == TILE_ACCESSES) return NULL;
                into->order[g][counts[g]++] = (uint8_t)lane;
            }
        }
    into->each = counts[0];
    into->several = false;
    for (uint32_t g = 0; g < granules; g++) {
        uint32_t other = 0;
        if (counts[g] != into->each) return NULL;
        while (other < into->each && into->order[g][other] == into->order[g][0]) other++;
        bool several = other < into->each;
        if (g && several != into->several) return NULL;
        into->several = several;
        into->first[g] = into->order[g][0];
        into->second[g] = several ? into->order[g][other] : 0;
    }
    memcpy(it->key, key, sizeof key);
    return into;
}

/* Copies a matrix between memory and ``dense``, where elements are in the order of the lanes. */
static void copy_tile(const struct tile *tile, bool by_row, uint8_t *dense, bool stores) {
    uint32_t along = tile->bytes / tile->size;
    for (uint32_t line = 0; line < tile->lines; line++) {
        uint8_t *memory = tile->data + tile->offset + line * tile->stride;
        if (by_row) {
            if (stores) memcpy(memory, dense + line * tile->bytes, tile->bytes);
            else memcpy(dense + line * tile->bytes, memory, tile->bytes);
            continue;
        }
        for (uint32_t i = 0; i < along; i++) {
            uint8_t *one = dense + (i * tile->lines + line) * tile->size, *other = memory + i * tile->size;
            if (tile->size == 2) memcpy(stores ? other : one, stores ? one : other, 2);
            else if (tile->size == 4) memcpy(stores ? other : one, stores ? one : other, 4);
            else memcpy(stores ? other : one, stores ? one : other, tile->size);
        }
    }
}

/* A fragment that wmma moves. ``base``: of each lane; ``within``: mask of addresses; ``stride``: in elements. */
struct fragment {
    const struct matrix *it;
    bool stores, by_row;
    uint32_t which, bits, per, count, rows, columns, stride;
    const uint64_t *base;
    uint64_t within;
};

/* Moves it at once. False: it did nothing, because some access may be at fault, or may race. */
static bool move_at_once(struct warp *w, const struct row *r, const struct fragment *f) {
    const struct launch *launch = w->block->launch;
    uint32_t lines = f->by_row ? f->rows : f->columns, along = f->by_row ? f->columns : f->rows, size = f->bits / 8,
             own = f->count * f->per, total = lines * along, words = total * size / 4;
    bool apart = false;
    for (int i = 0; i < LANES; i++) apart |= f->base[i] != f->base[0];
    if (apart || f->stride < along || f->stride > 1u << 24 || total & (total - 1) || words < LANES ||
            4 * words > TILE_BYTES || w->block->worker->watched)
        return false;
    if (f->stores && (own * LANES != total || w->any_undefined || size < launch->kernel->granule)) return false;
    struct tile tile = {.stride = (uint64_t)f->stride * size, .lines = lines, .bytes = along * size, .size = size};
    if (!tile_of(w, r, (f->base[0] + (uint64_t)r->imm) & f->within, f->stores, &tile)) return false;
    if (launch->check && tile.region->written) {
        tile.lanes = lanes_of(lines, along, own, f->by_row, size, launch->kernel->granule);
        if (!tile.lanes || !check_tile(w, r, &tile, f->stores)) return false;
    }
    _Alignas(8) uint8_t dense[TILE_BYTES];
    if (!f->stores) copy_tile(&tile, f->by_row, dense, false);
    for (uint32_t i = 0; i < f->count && w->any_undefined && !f->stores; i++) w->undefined[f->it->units[i]] = 0;
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t at = lane * f->count + i;
            if (size == 8) {
                uint64_t *all = (uint64_t *)(void *)dense, *unit = u64_of(w, f->it->units[i]);
                if (f->stores) all[at] = unit[lane];
                else unit[lane] = all[at & (words / 2 - 1)];
            } else {
                uint32_t *all = (uint32_t *)(void *)dense, *unit = u32_of(w, f->it->units[i]);
                if (f->stores) all[at] = unit[lane];
                else unit[lane] = all[at & (words - 1)];
            }
        }
    if (!f->stores) return true;
    copy_tile(&tile, f->by_row, dense, true);
    w->moved = true;
    if (launch->check) memory_stored(w, EVERY);
    for (uint32_t line = 0; line < lines && tile.valid; line++)
        memset(tile.valid + tile.offset + line * tile.stride, 1, tile.bytes);
    return true;
}

/* Moves an element of each lane at a time. 1: a fault was recorded. */
static int move_elements(struct warp *w, const struct row *r, const struct fragment *f, uint32_t mask) {
    static _Thread_local struct places_kept kept[3];
    const struct places_kept *places = places_in(&kept[f->which], f->it, f->which, f->count, f->per);
    const uint8_t *along = f->by_row ? places->columns : places->rows,
                  *across = f->by_row ? places->rows : places->columns;
    uint32_t bits = f->bits;
    uint64_t at[LANES];
    bool whole = bits >= 32;
    struct row one = *r;
    one.op = f->stores ? OP_STORE : OP_LOAD;
    one.count = 1;
    one.size = (uint8_t)(bits / 8);
    one.imm = 0;
    one.wide = 2;
    one.flags = 0;
    one.a = r->e + 2; /* the two units after the one for values hold addresses */
    one.b = one.c = one.e = NONE;
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t j = 0; j < f->per; j++) {
            const uint32_t first = (i * f->per + j) * LANES;
            for (uint32_t lane = 0; lane < LANES; lane++)
                at[lane] = (f->base[lane] + (uint64_t)r->imm +
                                   (uint64_t)(across[first + lane] * f->stride + along[first + lane]) * (bits / 8)) &
                        f->within;
            memcpy(u64_of(w, one.a), at, sizeof at);
            one.d = whole ? f->it->units[i] : r->e;
            if (w->any_undefined && f->stores) w->undefined[one.d] = w->undefined[f->it->units[i]];
            if (w->any_undefined && !f->stores) w->undefined[one.d] &= ~mask;
            uint32_t *value = u32_of(w, r->e), *word = u32_of(w, f->it->units[i]), shift = bits * j;
            if (f->stores && !whole)
                for (int lane = 0; lane < LANES; lane++) value[lane] = word[lane] >> shift;
            if (f->stores ? memory_store(w, &one, mask) : memory_load(w, &one, mask)) return 1;
            if (w->any_undefined && !f->stores && !whole)
                w->undefined[f->it->units[i]] = w->undefined[r->e] | (j ? w->undefined[f->it->units[i]] : 0);
            if (!f->stores && !whole)
                for (int lane = 0; lane < LANES; lane++)
                    word[lane] =
                            (word[lane] & ~(((1u << bits) - 1) << shift)) | (value[lane] & ((1u << bits) - 1)) << shift;
        }
    return 0;
}

/* wmma.load and .store: b: the address, c: the stride in elements (NONE: that of a whole matrix), e: a unit to
 * spare. */
static int move(struct warp *w, const struct row *r, const struct matrix *it, uint32_t mask) {
    uint32_t type = it->types[it->which], bits = bits_of_type(type);
    uint64_t room[LANES];
    struct fragment f = {.it = it,
            .stores = it->kind == STORE_FRAGMENT,
            .by_row = it->which == OPERAND_B ? it->b_by_row : it->a_by_row,
            .which = it->which,
            .bits = bits,
            .per = bits >= 32 ? 1 : 32 / bits,
            .count = it->counts[it->which == OPERAND_D ? 0 : it->which + 1],
            .rows = it->which == OPERAND_B ? it->k : it->m,
            .columns = it->which == OPERAND_A ? it->k : it->n,
            .base = wide_of(w, r->b, r->wide >> 2 & 1, room),
            .within = r->space == SHARED && !(r->wide >> 2 & 1) ? 0xffffffffu : ~0ull};
    f.stride = r->c == NONE ? (f.by_row ? f.columns : f.rows) : u32_of(w, r->c)[0];
    struct matrix words;
    if (bits < 8) { /* as words along rows of A and columns of B, the only layouts */
        words = *it;
        words.kind = LOAD_FRAGMENT;
        words.m = f.rows = it->which == OPERAND_B ? it->n : it->m;
        words.k = f.columns = it->k * bits / 32;
        words.counts[1] = f.count;
        f.stride = f.stride * bits / 32;
        f.it = &words;
        f.which = OPERAND_A;
        f.by_row = true;
        f.bits = 32;
        f.per = 1;
    }
    uint64_t address = f.base[0] + (uint64_t)r->imm;
    struct profile *profile = w->block->launch->profile; /* it counts as one access */
    w->block->launch->profile = NULL;
    if (!(mask == EVERY && move_at_once(w, r, &f)) && move_elements(w, r, &f, mask)) return 1;
    w->block->launch->profile = profile;
    if (profile)
        profile_fragment(w, r, it->units, f.stores ? 0 : f.count, address, f.by_row ? f.rows : f.columns,
                (f.by_row ? f.columns : f.rows) * f.bits / 8, (uint64_t)f.stride * (f.bits / 8),
                f.bits >= 32 && (f.which == OPERAND_D || f.bits == 64) ? 8 : 4,
                r->space == SHARED || address >> 48 == SHARED_BASE >> 48, f.stores);
    return 0;
}

/* a: the address of each lane's row of 8 x 16 bits; count: 1, 2 or 4 matrices; size: flags. */
static int move_matrices(struct warp *w, const struct row *r, uint32_t mask) {
    const uint32_t outs[4] = {r->d, r->b, r->c, r->e};
    uint64_t room[LANES];
    bool wide = r->wide >> 1 & 1;
    const uint64_t *address = r->a == NONE ? memset(room, 0, sizeof room) : wide_of(w, r->a, wide, room);
    uint16_t rows[4][8][8];
    bool stores = r->size & STORED, transposed = r->size & TRANSPOSED;
    const struct block *block = w->block;
    const uint8_t *valid[4][8] = {{NULL}}; /* of rows with unwritten bytes */
    uint32_t bad = 0;
    if (stores)
        for (uint32_t k = 0; k < r->count; k++)
            for (int i = 0; i < LANES; i++)
                for (int half = 0; half < 2; half++) {
                    int row = i / 4, column = i % 4 * 2 + half;
                    *(transposed ? &rows[k][column][row] : &rows[k][row][column]) =
                            (uint16_t)(u32_of(w, outs[k])[i] >> 16 * half);
                }
    if (w->block->launch->profile)
        profile_shared(w, r, address, r->count == 4 ? EVERY : (1u << 8 * r->count) - 1, 16, stores ? WRITES : READS);
    for (uint32_t k = 0; k < r->count; k++)
        for (int i = 0; i < 8; i++) {
            int lane = (int)k * 8 + i;
            uint64_t from = address[lane] + (uint64_t)r->imm;
            uint8_t *at = memory_at(w, r, wide ? from : from & 0xffffffffu, 16, lane, stores);
            if (!at) return 1;
            if (stores) memcpy(at, rows[k][i], 16);
            else memcpy(rows[k][i], at, 16);
            bool own = block->shared_valid && at >= block->shared && at < block->shared + block->shared_region.size;
            if (stores || !own || !memchr(block->shared_valid + (at - block->shared), 0, 16)) continue;
            valid[k][i] = block->shared_valid + (at - block->shared);
            bad |= 1u << k;
        }
    for (uint32_t k = 0; k < r->count && block->launch->check && !stores && (bad || w->any_undefined); k++) {
        w->undefined[outs[k]] &= ~mask;
        for (int i = 0; i < LANES && bad >> k & 1; i++)
            for (int half = 0; half < 2; half++) {
                int row = i / 4, column = i % 4 * 2 + half;
                const uint8_t *known = transposed ? valid[k][column] : valid[k][row];
                uint32_t at = 2 * (uint32_t)(transposed ? row : column);
                if (!known || !(mask >> i & 1) || (known[at] && known[at + 1])) continue;
                check_undefined_read(w, r, outs[k], 1u << i, &block->shared_region, known + at - block->shared_valid);
            }
    }
    for (uint32_t k = 0; k < r->count && !stores; k++) {
        uint32_t *out = u32_of(w, outs[k]);
        for (int i = 0; i < LANES; i++) {
            int row = i / 4, column = i % 4 * 2;
            uint16_t low = transposed ? rows[k][column][row] : rows[k][row][column],
                     high = transposed ? rows[k][column + 1][row] : rows[k][row][column + 1];
            if (mask >> i & 1) out[i] = (uint32_t)high << 16 | low;
        }
    }
    return 0;
}

int matrix_run(struct warp *w, const struct row *r, uint32_t mask) {
    if (r->count) return move_matrices(w, r, mask);
    const struct matrix *it = (const struct matrix *)((const uint32_t *)w->pool + r->a);
    if (it->kind == LOAD_FRAGMENT || it->kind == STORE_FRAGMENT) return move(w, r, it, mask);
    if (it->kind == TRANSPOSE) transpose(w, it, mask);
    else if (it->kind == MULTIPLY_QUADS) multiply_quads(w, it);
    else {
        if (w->any_undefined) spread_undefined(w, it);
        multiply(w, it);
    }
    if (it->kind != TRANSPOSE) w->block->worker->heavy += it->m * it->n * it->k / PRODUCTS_A_ROW;
    return 0;
}
