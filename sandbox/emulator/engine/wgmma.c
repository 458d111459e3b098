/* A warp group's D = A * B + D; each of its warps computes 16 rows.
 *
 * Descriptors give A's and B's layout: blocks of 8 rows by 16 bytes, apart or swizzled. The product reads them when it
 * starts; checks report their change, or a use of D, before a wait. */
#include <string.h>

#include "async.h"
#include "numbers.h"
#include "sums.h"

enum { ROWS = 16, MOST_N = 256, MOST_K = 32, BYTES = 32 };

/* In the pool at word r->imm, by lower/products.py. a_count: 0: A has a descriptor. */
struct product {
    uint32_t n, k, types[3], transposed[2], negated[2], saturates, d_count, a_count, a_units[4], d_units[128];
};

static inline double element(const uint8_t *at, uint32_t type) {
    uint16_t half;
    uint32_t word;
    switch (type) {
    case F16: memcpy(&half, at, 2); return f16_value(half);
    case BF16: memcpy(&half, at, 2); return bf16_value(half);
    case TF32: memcpy(&word, at, 4); return f32_of(word & 0xffffe000u);
    case S8: return (int8_t)*at;
    case U8: return *at;
    case E4M3: return fp8_value(*at, 4);
    default: return fp8_value(*at, 5);
    }
}
/* ``step``: bytes between elements. */
static void elements(const uint8_t *raw, uint32_t type, uint32_t outer, size_t outer_step, uint32_t inner, size_t step,
        double *into) {
#define ALL_OF(TYPE) \
    case TYPE: \
        for (uint32_t i = 0; i < outer; i++) \
            for (uint32_t j = 0; j < inner; j++) into[i * inner + j] = element(raw + i * outer_step + j * step, TYPE); \
        break;
    switch (type) { ALL_OF(F16) ALL_OF(BF16) ALL_OF(TF32) ALL_OF(S8) ALL_OF(U8) ALL_OF(E4M3) default : ALL_OF(E5M2) }
#undef ALL_OF
}
static uint32_t bytes_of(uint32_t type) { return type == TF32 ? 4 : type == F16 || type == BF16 ? 2 : 1; }

/* Rows of M or N from ``first`` on, each 32 bytes of K; transposed, 16 of K with ``rows`` elements of 2 bytes. */
static bool collect(struct warp *w, const struct row *r, uint64_t descriptor, bool transposed, uint32_t first,
        uint32_t rows, int lane, uint32_t segment, uint8_t *into) {
    static const uint32_t WIDTHS[4] = {16, 128, 64, 32}, MASKS[4] = {0, 7, 3, 1};
    uint32_t start = (uint32_t)(descriptor & 0x3fff) << 4, leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
             stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
    uint32_t base = (uint32_t)(descriptor >> 49 & 7), mode = (uint32_t)(descriptor >> 62), width = WIDTHS[mode],
             chunks = width / 16;
    struct block *block = w->block;
    uint64_t size = block->shared_region.size;
    uint32_t lines = transposed ? 16 : rows, across = transposed ? rows / 8 : 2;
    bool unwritten = false;
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t chunk = 0; chunk < across; chunk++) {
            uint64_t at;
            if (transposed) {
                uint32_t c = chunk + first / 8;
                at = mode ? (uint64_t)start + c % chunks * 16 + (uint64_t)(c / chunks) * leading + line % 8 * width +
                                (uint64_t)(line / 8) * stride
                          : (uint64_t)start + (uint64_t)c * stride + line % 8 * 16 + (uint64_t)(line / 8) * leading;
            } else {
                uint32_t row = line + first;
                at = (uint64_t)start + row % 8 * width + (uint64_t)(row / 8) * stride +
                        (mode ? chunk * 16 : (uint64_t)chunk * leading);
            }
            at ^= ((((at >> 7) - base) & MASKS[mode]) << 4);
            if (at + 16 > size) {
                fault(w, r, OUT_OF_BOUNDS, lane, &block->shared_region, (int64_t)at, 16, false);
                return false;
            }
            memcpy(into + ((size_t)line * across + chunk) * 16, block->shared + at, 16);
            if (!segment) continue;
            unwritten |= memchr(block->shared_valid + at, 0, 16) != NULL;
            check_async(w, r, &block->shared_region, at, 16, lane, false, false, segment);
        }
    if (unwritten && !check_left_out(w)) report(w, r, UNWRITTEN, lane, NULL, 0, 0, false, NULL);
    return true;
}

/* Of a column's first lane, if D is float32. */
static inline uint32_t *float_at(
        struct warp *w, const struct product *it, uint32_t column, uint32_t half, uint32_t pair, uint32_t lane) {
    return u32_of(w, it->d_units[4 * (column / 8) + 2 * half + pair]) + lane;
}

static void multiply(
        struct warp *w, const struct product *it, uint32_t mask, const double *a, const double *b, bool adds) {
    static _Thread_local double sums[MOST_N];
    static _Thread_local int16_t a_exponents[MOST_K], b_exponents[MOST_K * MOST_N];
    uint32_t d_type = it->types[0], n = it->n, k = it->k;
    bool eight = it->types[1] == E4M3 || it->types[1] == E5M2;
    if (d_type == F32) exponents_of(b, k * n, LOWEST[it->types[2]], b_exponents);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t lanes = row % 8 * 4, half = row / 8;
        if (d_type == F32 && mask == EVERY) {
            for (uint32_t column = 0; column < n; column += 2)
                for (uint32_t pair = 0; pair < 2; pair++)
                    sums[column + pair] =
                            adds ? f32_of(float_at(w, it, column, half, pair, lanes)[column % 8 / 2]) : 0.0;
            exponents_of(a + row * k, k, LOWEST[it->types[1]], a_exponents);
            add_products(eight ? NARROW_ADDER : WIDE_ADDER, k, n, a + row * k, a_exponents, b, b_exponents, sums);
            for (uint32_t column = 0; column < n; column += 2)
                for (uint32_t pair = 0; pair < 2; pair++)
                    float_at(w, it, column, half, pair, lanes)[column % 8 / 2] = bits_of((float)sums[column + pair]);
            continue;
        }
        for (uint32_t column = 0; column < n; column++) {
            uint32_t lane = lanes + column % 8 / 2, pair = column & 1, block = column / 8;
            uint32_t unit = it->d_units[d_type == F16 ? 2 * block + half : 4 * block + 2 * half + pair],
                     word = u32_of(w, unit)[lane];
            sums[column] = !adds    ? 0.0
                    : d_type == F16 ? f16_value((uint16_t)(word >> 16 * pair))
                    : d_type == S32 ? (double)(int32_t)word
                                    : f32_of(word);
        }
        if (d_type == F32) {
            exponents_of(a + row * k, k, LOWEST[it->types[1]], a_exponents);
            add_products(eight ? NARROW_ADDER : WIDE_ADDER, k, n, a + row * k, a_exponents, b, b_exponents, sums);
        } else
            for (uint32_t i = 0; i < k; i++) {
                double scale = a[row * k + i];
                const double *from = b + (size_t)i * n;
                for (uint32_t column = 0; column < n; column++) sums[column] += scale * from[column];
            }
        for (uint32_t column = 0; column < n; column++) {
            uint32_t lane = lanes + column % 8 / 2, pair = column & 1, block = column / 8;
            if (!(mask >> lane & 1)) continue;
            uint32_t *word =
                    u32_of(w, it->d_units[d_type == F16 ? 2 * block + half : 4 * block + 2 * half + pair]) + lane;
            double sum = sums[column];
            if (d_type == F16) *word = (*word & ~(0xffffu << 16 * pair)) | (uint32_t)f16_bits(sum) << 16 * pair;
            else if (d_type != S32) *word = bits_of((float)sum);
            else if (it->saturates)
                *word = (uint32_t)(int32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
            else *word = (uint32_t)(int64_t)sum;
        }
    }
}

/* Counts common bits. */
static void count_bits(
        struct warp *w, const struct product *it, uint32_t mask, const uint8_t *a, const uint8_t *b, bool adds) {
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t column = 0; column < it->n; column++) {
            uint32_t lane = row % 8 * 4 + column % 8 / 2, count = 0;
            for (uint32_t i = 0; i < BYTES; i += 8) {
                uint64_t x, y;
                memcpy(&x, a + row * BYTES + i, 8);
                memcpy(&y, b + column * BYTES + i, 8);
                count += (uint32_t)__builtin_popcountll(x & y);
            }
            uint32_t *word = u32_of(w, it->d_units[4 * (column / 8) + 2 * (row / 8) + (column & 1)]) + lane;
            if (mask >> lane & 1) *word = (adds ? *word : 0) + count;
        }
}

/* D is unwritten until a wait for its group. */
static void mark(struct warp *w, const struct product *it, uint32_t line) {
    if (!w->block->launch->check) return;
    w->any_undefined |= PENDING_PRODUCTS;
    w->undefined[w->block->launch->kernel->units] = line;
    for (uint32_t i = 0; i < it->d_count; i++) w->undefined[it->d_units[i]] = EVERY;
}

static int begin(struct warp *w, const struct row *r, uint32_t mask) {
    static _Thread_local uint8_t raw_a[ROWS * BYTES], raw_b[MOST_N * BYTES];
    static _Thread_local double a[ROWS * MOST_K], b[MOST_K * MOST_N];
    const struct product *it = (const struct product *)((const uint32_t *)w->pool + r->imm);
    int lane = __builtin_ctz(mask);
    uint32_t a_type = it->types[1], b_type = it->types[2], n = it->n, k = it->k, step = bytes_of(a_type),
             first = w->number % 4 * ROWS;
    uint32_t segment = check_async_segment(w, r, clock_slot(w, PRODUCTS_SLOT), w->product_groups);
    uint32_t truth = *u32_of(w, r->e);
    bool adds = truth >> lane & 1;
    if (it->a_count) {
        for (uint32_t i = 0; i < it->a_count; i++)
            for (int l = 0; l < LANES; l++)
                memcpy(raw_a + ((size_t)(l / 4) + 8 * (i & 1)) * BYTES + 4 * (l & 3) + 16 * (i >> 1),
                        &u32_of(w, it->a_units[i])[l], 4);
    } else if (!collect(w, r, u64_of(w, r->b)[lane], it->transposed[0], first, ROWS, lane, segment, raw_a)) return 1;
    if (!collect(w, r, u64_of(w, r->c)[lane], it->transposed[1], 0, n, lane, segment, raw_b)) return 1;
    if (a_type == B1) count_bits(w, it, mask, raw_a, raw_b, adds);
    else {
        bool across = it->transposed[0] && !it->a_count;
        elements(raw_a, a_type, ROWS, across ? 2 : BYTES, k, across ? 2 * ROWS : step, a);
        for (uint32_t i = 0; i < ROWS * k && it->negated[0] != it->negated[1]; i++) a[i] = -a[i];
        bool down = it->transposed[1];
        elements(raw_b, b_type, k, down ? 2 * (size_t)n : step, n, down ? 2 : BYTES, b);
        multiply(w, it, mask, a, b, adds);
    }
    w->block->worker->heavy += (uint64_t)ROWS * n * k / PRODUCTS_A_ROW;
    mark(w, it, r->line);
    if (w->product_count < PRODUCTS)
        w->products[w->product_count++] = (struct pending_product){(uint32_t)r->imm, w->product_groups, r->line};
    if (w->block->launch->profile)
        profile_product(w, (uint64_t)n * k, (uint64_t)k * step * (it->a_count ? n / 4 : ROWS + n / 4));
    return 0;
}

static void wait(struct warp *w, uint32_t left) {
    uint32_t before = w->product_groups > left ? w->product_groups - left : 0, kept = 0,
             units = w->block->launch->kernel->units;
    clock_reaches(w, clock_slot(w, PRODUCTS_SLOT), before);
    if (w->block->launch->profile) profile_product_waits(w);
    bool others = w->any_undefined & ~PENDING_PRODUCTS;
    if (!(w->any_undefined & PENDING_PRODUCTS)) {
        w->product_count = 0;
        return;
    }
    if (!others) memset(w->undefined, 0, 4 * (size_t)(units + 1));
    w->any_undefined &= ~(uint32_t)PENDING_PRODUCTS;
    for (uint32_t i = 0; i < w->product_count; i++) {
        struct pending_product it = w->products[i];
        const struct product *product = (const struct product *)((const uint32_t *)w->pool + it.words);
        if (it.group >= before) {
            w->products[kept++] = it;
            continue;
        }
        if (others)
            for (uint32_t k = 0; k < product->d_count; k++) w->undefined[product->d_units[k]] = 0;
    }
    w->product_count = kept;
    for (uint32_t i = 0; i < kept; i++)
        mark(w, (const struct product *)((const uint32_t *)w->pool + w->products[i].words), w->products[i].line);
}

int product_run(struct warp *w, const struct row *r, uint32_t mask) {
    switch (r->size) {
    case PRODUCT: return begin(w, r, mask);
    case PRODUCT_COMMIT: w->product_groups++; return 0;
    case PRODUCT_WAIT: wait(w, (uint32_t)r->imm); return 0;
    }
    return 0; /* a fence of registers */
}
