/* Conversions by bits; to nearest even unless named otherwise. */
#ifndef NUMBERS_H
#define NUMBERS_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

static inline float f32_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline double f64_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
static inline uint64_t bits64_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}
/* Subnormals become zero with their sign. */
static inline float flushed(float value) {
    uint32_t bits = bits_of(value);
    return (bits & 0x7f800000u) ? value : f32_of(bits & 0x80000000u);
}
static inline float saturated(float value) { return value >= 1.0f ? 1.0f : value > 0.0f ? value : 0.0f; }

/* To odd, so the float rounds to any shorter format as the double does. */
static inline float float_to_odd(double value) {
    float near = (float)value;
    if ((double)near != value && isfinite(near) && !(bits_of(near) & 1))
        near = f32_of(bits_of(near) + (fabs(value) > fabs((double)near) ? 1u : (uint32_t)-1));
    return near;
}
#if defined(__F16C__) || defined(__aarch64__)
static inline float f16_value(uint16_t half) {
#ifdef __F16C__
    return _cvtsh_ss(half); /* the compiler would call a function to make a double */
#else
    _Float16 value;
    memcpy(&value, &half, 2);
    return (float)value;
#endif
}
static inline uint16_t f16_of(float value) {
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, 2);
    return bits;
}
#else
static inline float f16_value(uint16_t half) {
    uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u) return f32_of(sign | 0x7f800000u | (rest & 0x3ffu ? 0x400000u : 0) | (rest & 0x3ffu) << 13);
    return f32_of(sign | bits_of(f32_of(rest << 13) * 0x1p112f));
}
static inline uint16_t f16_of(float value) {
    uint32_t bits = bits_of(value), rest = bits & 0x7fffffffu;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    /* subnormal: units of 2^-24 */
    if (rest < 0x38800000u) return sign | (uint16_t)(bits_of(f32_of(rest) + 0.5f) - 0x3f000000u);
    rest += 0xfffu + (rest >> 13 & 1);
    return sign | (rest >= 0x47800000u ? 0x7c00u : (uint16_t)((rest - 0x38000000u) >> 13));
}
#endif
static inline void f16_values(const uint16_t *halves, uint32_t count, double *into) {
    uint32_t i = 0;
#ifdef __F16C__
    for (; i + 4 <= count; i += 4)
        _mm256_storeu_pd(into + i, _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(halves + i)))));
#endif
    for (; i < count; i++) into[i] = f16_value(halves[i]);
}
/* From a double, so a sum or product that is exact there is rounded once. */
static inline uint16_t f16_bits(double value) { return isnan(value) ? 0x7fff : f16_of(float_to_odd(value)); }
static inline float bf16_value(uint16_t bits) { return f32_of((uint32_t)bits << 16); }
static inline uint16_t bf16_bits(float value) {
    uint32_t bits = bits_of(value);
    if (isnan(value)) return 0x7fff;
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
/* To odd, so it rounds to any shorter format as the exact sum does. */
static inline double sum_to_odd(double a, double b) {
    double sum = a + b;
    if (!isfinite(sum)) return sum;
    double back = sum - a, lost = (a - (sum - back)) + (b - back);
    uint64_t bits = bits64_of(sum);
    if (lost != 0 && !(bits & 1)) {
        bits += ((lost > 0) == (sum > 0)) ? 1 : (uint64_t)-1;
        return f64_of(bits);
    }
    return sum;
}
static inline uint16_t bf16_from_double(double value) { return isnan(value) ? 0x7fff : bf16_bits(float_to_odd(value)); }
/* 19 bits, ties away from zero, like cvt.rna.tf32. */
static inline uint32_t tf32_bits(uint32_t bits) {
    if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
    return (bits + 0x1000u) & 0xffffe000u;
}
/* Saturate. e4m3 has no infinity: 0x7f is NaN. */
static inline float fp8_value(uint8_t bits, int exponent_bits) {
    int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1), mantissa = bits & ((1 << mantissa_bits) - 1);
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (exponent_bits == 4 && (bits & 0x7f) == 0x7f) return NAN;
    if (exponent_bits == 5 && exponent == 31) return mantissa ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexpf((float)mantissa, 1 - bias - mantissa_bits);
    return sign * ldexpf(1.0f + ldexpf((float)mantissa, -mantissa_bits), exponent - bias);
}
static inline uint8_t fp8_bits(float value, int exponent_bits) {
    int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    uint8_t sign = signbit(value) ? 0x80 : 0, most = exponent_bits == 4 ? 0x7e : 0x7b;
    if (isnan(value)) return 0x7f;
    float size = fabsf(value);
    if (size >= fp8_value(most, exponent_bits)) return sign | most;
    int exponent;
    frexpf(size, &exponent);
    int lowest = 1 - bias, at = exponent - 1 < lowest ? lowest : exponent - 1;
    int steps = (int)nearbyintf(ldexpf(size, mantissa_bits - at)); /* in units of the last place */
    if (size == 0 || steps == 0) return sign;
    int bits = steps < (1 << mantissa_bits) ? steps : ((at + bias) << mantissa_bits) + steps - (1 << mantissa_bits);
    return sign | (uint8_t)(bits > most ? most : bits);
}
#endif
