#include "video.h"

#include <stdbool.h>

typedef __int128 wide;

static wide part(uint32_t word, uint32_t bits, uint32_t place, bool is_signed) {
    uint64_t value = bits >= 32 ? word : word >> (bits * place & 31) & ((1ull << bits) - 1);
    return is_signed && value >> (bits - 1) & 1 ? (wide)value - ((wide)1 << bits) : (wide)value;
}

static wide limited(wide value, uint32_t bits, bool is_signed) {
    wide most = ((wide)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return value > most ? most : value < least ? least : value;
}

static bool compared(uint32_t how, wide a, wide b) {
    switch (how) {
    case COMPARE_EQ: return a == b;
    case COMPARE_NE: return a != b;
    case COMPARE_LT: return a < b;
    case COMPARE_LE: return a <= b;
    case COMPARE_GT: return a > b;
    default: return a >= b;
    }
}

static wide combined(const struct video *it, wide a, wide b) {
    switch (it->operation) {
    case VIDEO_ADD: return a + b;
    case VIDEO_SUB: return a - b;
    case VIDEO_ABSDIFF: return a > b ? a - b : b - a;
    case VIDEO_MIN: return a < b ? a : b;
    case VIDEO_MAX: return a > b ? a : b;
    case VIDEO_AVRG: return (a + b + (a + b >= 0)) >> 1;
    default: return compared(it->compare, a, b);
    }
}

static uint32_t multiplied(const struct video *it, wide a, wide b, uint32_t c) {
    bool is_signed = it->a_signed || it->b_signed || it->mad & (PRODUCT_NEGATED | C_NEGATED);
    wide product = a * b, one = it->mad & (PLUS_ONE | PRODUCT_NEGATED | C_NEGATED) ? 1 : 0;
    if (it->mad & PRODUCT_NEGATED) product = ~product;
    if (it->mad & C_NEGATED) c = ~c;
    wide sum = product + (is_signed ? (wide)(int32_t)c : (wide)c) + one;
    if (it->mad & BY_7) sum >>= 7;
    if (it->mad & BY_15) sum >>= 15;
    return (uint32_t)(it->saturates ? limited(sum, 32, is_signed) : sum);
}

static uint32_t of_one(const struct video *it, uint32_t a_word, uint32_t b_word, uint32_t c) {
    wide a = part(a_word, it->a_from & 255, it->a_from >> 8, it->a_signed),
         b = part(b_word, it->b_from & 255, it->b_from >> 8, it->b_signed), result;
    if (it->operation == VIDEO_MAD) return multiplied(it, a, b, c);
    if (it->operation == VIDEO_SHL || it->operation == VIDEO_SHR) {
        uint32_t by = it->wraps ? (uint32_t)b & 31 : b > 32 ? 32 : (uint32_t)b;
        result = it->operation == VIDEO_SHL ? a * ((wide)1 << by) : a >> by;
    } else result = combined(it, a, b);
    uint32_t bits = it->into & 255, place = it->into >> 8;
    if (it->saturates) result = limited(result, bits, it->d_signed);
    if (bits < 32) { /* into a part of c */
        uint32_t keep = ((1u << bits) - 1) << (bits * place & 31);
        return (c & ~keep) | ((uint32_t)result << (bits * place & 31) & keep);
    }
    uint32_t word = (uint32_t)result;
    switch (it->second) {
    case SECOND_ADD: return word + c;
    case SECOND_MIN: return it->d_signed ? ((int32_t)word < (int32_t)c ? word : c) : word < c ? word : c;
    case SECOND_MAX: return it->d_signed ? ((int32_t)word > (int32_t)c ? word : c) : word > c ? word : c;
    default: return word;
    }
}

uint32_t video_result(const struct video *it, uint32_t a_word, uint32_t b_word, uint32_t c) {
    if (it->lanes == 1) return of_one(it, a_word, b_word, c);
    uint32_t bits = 32 / it->lanes, every = (1u << bits) - 1, out = it->second ? c : 0;
    const uint32_t both[2] = {a_word, b_word};
    for (uint32_t i = 0; i < it->lanes; i++) {
        uint32_t a_at = it->a_from >> 4 * i & (2 * it->lanes - 1), b_at = it->b_from >> 4 * i & (2 * it->lanes - 1);
        wide a = part(both[a_at / it->lanes], bits, a_at % it->lanes, it->a_signed),
             b = part(both[b_at / it->lanes], bits, b_at % it->lanes, it->b_signed);
        wide result = combined(it, a, b);
        if (it->saturates) result = limited(result, bits, it->d_signed);
        bool written = it->into >> i & 1;
        if (it->second) out += written ? (uint32_t)result : 0;
        else out |= ((written ? (uint32_t)result : c >> bits * i) & every) << bits * i;
    }
    return out;
}
