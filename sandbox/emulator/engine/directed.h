/* Rounding without the processor's modes, which WebAssembly lacks: the nearest result, or its neighbour by what was
 * lost. ``mode``: enum rounding.
 *
 * NaN compares false, so it stays. */
#ifndef DIRECTED_H
#define DIRECTED_H
#include "engine.h"
#include "numbers.h"

static inline bool goes_down(int mode, bool negative) {
    return mode == ROUND_DOWN || (mode == ROUND_TO_ZERO && !negative);
}

/* ``near`` is the nearest to a number that is ``lost`` larger; only the sign of ``lost`` counts. */
static inline float moved32(float near, double lost, int mode) {
    uint32_t bits = bits_of(near);
    bool negative = bits >> 31;
    if (mode == ROUND_NEAREST || !(lost < 0 || lost > 0)) return near;
    if (near == 0) negative = lost < 0;
    bool down = goes_down(mode, negative);
    if (near == 0) return down == negative ? f32_of((uint32_t)negative << 31 | 1) : f32_of((uint32_t)negative << 31);
    if (down != (lost < 0)) return near;
    return f32_of(down == negative ? bits + 1 : bits - 1);
}
static inline double moved64(double near, double lost, int mode) {
    uint64_t bits = bits64_of(near);
    bool negative = bits >> 63;
    if (mode == ROUND_NEAREST || !(lost < 0 || lost > 0)) return near;
    if (near == 0) negative = lost < 0;
    bool down = goes_down(mode, negative);
    if (near == 0) return down == negative ? f64_of((uint64_t)negative << 63 | 1) : f64_of((uint64_t)negative << 63);
    if (down != (lost < 0)) return near;
    return f64_of(down == negative ? bits + 1 : bits - 1);
}

/* An exact 0 has the sign of both, else it is negative only if rounded down. */
static inline double zero_of(double a, double b, int mode) {
    return signbit(a) == signbit(b) ? a : mode == ROUND_DOWN ? -0.0 : 0.0;
}

/* ---- float: exact, or rounded to odd, in double ---- */
static inline float float_by(double value, int mode) {
    float near = (float)value;
    return isinf(value) ? near : moved32(near, value - (double)near, mode);
}
static inline float sum_by32(double a, double b, int mode) {
    double sum = sum_to_odd(a, b);
    return sum == 0 ? (float)zero_of(a, b, mode) : float_by(sum, mode);
}
static inline float add_by_f32(float a, float b, int mode) { return sum_by32(a, b, mode); }
static inline float sub_by_f32(float a, float b, int mode) { return sum_by32(a, -(double)b, mode); }
static inline float mul_by_f32(float a, float b, int mode) { return float_by((double)a * b, mode); }
static inline float fma_by_f32(float a, float b, float c, int mode) { return sum_by32((double)a * b, c, mode); }
static inline float div_by_f32(float a, float b, int mode) {
    float near = a / b;
    if (b == 0 || isinf(a)) return near;
    double rest = isinf(near) ? -(double)near : ((double)a - (double)near * b) * copysign(1.0, b);
    return moved32(near, rest, mode);
}
static inline float sqrt_by_f32(float a, int mode) {
    float near = sqrtf(a);
    return isinf(near) ? near : moved32(near, (double)a - (double)near * near, mode);
}

/* (-1)^negative * (bits + a little if ``more``) * 2^exponent; bits is not 0, and significant at the top. */
static inline double double_by(bool negative, unsigned __int128 bits, bool more, int exponent, int mode) {
    int top = bits >> 64 ? 127 - __builtin_clzll((uint64_t)(bits >> 64)) : 63 - __builtin_clzll((uint64_t)bits);
    int last = top + exponent - 52 < -1074 ? -1074 : top + exponent - 52; /* of the last place */
    int cut = last - exponent;
    unsigned __int128 kept = cut > 127 ? 0 : cut > 0 ? bits >> cut : bits << -cut;
    unsigned __int128 rest = cut > 127 ? bits : cut > 0 ? bits - (kept << cut) : 0;
    bool inexact = rest || more, up = false;
    if (mode == ROUND_NEAREST) {
        unsigned __int128 half = cut > 0 && cut <= 128 ? (unsigned __int128)1 << (cut - 1) : 0;
        up = half && (rest > half || (rest == half && (more || (kept & 1))));
    } else up = inexact && !goes_down(mode, negative) == !negative && mode != ROUND_TO_ZERO;
    uint64_t whole = (uint64_t)kept + up;
    if (whole >> 53) {
        whole >>= 1;
        last++;
    }
    uint64_t sign = (uint64_t)negative << 63;
    if (last + 52 > 1023) {
        bool most = mode == ROUND_TO_ZERO || (mode == ROUND_DOWN && !negative) || (mode == ROUND_UP && negative);
        return f64_of(sign | (most ? 0x7fefffffffffffffull : 0x7ff0000000000000ull));
    }
    /* a subnormal has no bit 52, and its exponent's field is 0 */
    return f64_of(sign | (((uint64_t)(last + 1074) << 52) + whole));
}
static inline uint64_t mantissa_of(double a, int *exponent) {
    uint64_t bits = bits64_of(a) & 0x7fffffffffffffffull, field = bits >> 52;
    *exponent = field ? (int)field - 1075 : -1074;
    return (bits & 0xfffffffffffffull) | (field ? 1ull << 52 : 0);
}
static inline double fma_by_f64(double a, double b, double c, int mode) {
    if (!isfinite(a) || !isfinite(b) || !isfinite(c)) return fma(a, b, c);
    bool negative = signbit(a) != signbit(b), minus = signbit(c);
    int at, other, behind;
    unsigned __int128 product = (unsigned __int128)mantissa_of(a, &at) * mantissa_of(b, &other),
                      added = mantissa_of(c, &behind);
    at += other;
    if (product == 0 && added == 0) return zero_of(negative ? -0.0 : 0.0, c, mode);
    if (product == 0) return c;
    if (added == 0) return double_by(negative, product, false, at, mode);
    /* the higher one starts at the top of 126 bits */
    int high =
            product >> 64 ? 127 - __builtin_clzll((uint64_t)(product >> 64)) : 63 - __builtin_clzll((uint64_t)product);
    int top = high + at, second = 63 - __builtin_clzll((uint64_t)added) + behind;
    int base = (top > second ? top : second) - 125;
    bool more = false;
    unsigned __int128 *each[2] = {&product, &added};
    const int from[2] = {at, behind};
    int lowest = -1;
    for (int i = 0; i < 2; i++) {
        int by = from[i] - base;
        if (by >= 0) *each[i] <<= by;
        else {
            unsigned __int128 before = *each[i];
            *each[i] = by <= -128 ? 0 : before >> -by;
            if (by <= -128 || *each[i] << -by != before) {
                more = true;
                lowest = i;
            }
        }
    }
    if (negative == minus) return double_by(negative, product + added, more, base, mode);
    if (product == added && !more) return mode == ROUND_DOWN ? -0.0 : 0.0;
    bool first = product > added || (product == added && lowest == 1);
    unsigned __int128 rest = first ? product - added : added - product;
    /* subtracting a cut-off little gives one less, and a little more */
    if (more && lowest == (first ? 1 : 0)) rest -= 1;
    return double_by(first ? negative : minus, rest, more, base, mode);
}
static inline double add_by_f64(double a, double b, int mode) { return fma_by_f64(a, 1.0, b, mode); }
static inline double sub_by_f64(double a, double b, int mode) { return fma_by_f64(a, 1.0, -b, mode); }
static inline double mul_by_f64(double a, double b, int mode) {
    return fma_by_f64(a, b, signbit(a) != signbit(b) ? -0.0 : 0.0, mode);
}
static inline double div_by_f64(double a, double b, int mode) {
    double near = a / b;
    if (b == 0 || isinf(a) || isinf(b)) return near;
    if (isinf(near)) return moved64(near, -near, mode);
    double scale = fabs(a) < 0x1p-900 ? 0x1p200 : 1.0; /* so the rest is no subnormal number */
    return moved64(near, fma(-near * scale, b, a * scale) * copysign(1.0, b), mode);
}
static inline double sqrt_by_f64(double a, int mode) {
    double near = sqrt(a);
    if (isinf(near)) return near;
    double scale = a < 0x1p-900 ? 0x1p100 : 1.0;
    return moved64(near, fma(-near * scale, near * scale, a * scale * scale), mode);
}
static inline double double_of_u64(uint64_t a, int mode) { return a ? double_by(false, a, false, 0, mode) : 0.0; }
static inline double double_of_s64(int64_t a, int mode) {
    return a < 0 ? double_by(true, 0 - (uint64_t)a, false, 0, mode) : double_of_u64((uint64_t)a, mode);
}
#endif
