/* Adds like an H200's tensor cores, bit for bit as benchmarks/gpu/hopper.py measured.
 *
 * All products and the old value are cut, toward zero, at some places below the largest exponent (a product's is the
 * sum of its factors'). Their exact sum is cut, toward zero, to the result's bits. */
#ifndef SUMS_H
#define SUMS_H
#include <stdbool.h>
#include <stdint.h>

#include "names.h"
#include "numbers.h"

enum element { ELEMENTS(NUMBERED) };
/* Of the smallest normal numbers. */
static const int LOWEST[] = {[F16] = -14, [BF16] = -126, [TF32] = -126, [E4M3] = -6, [E5M2] = -14};

/* Places below the largest exponent; bits of the sum. */
struct adder { int places, bits; };
static const struct adder WIDE_ADDER = {25, 24}, NARROW_ADDER = {13, 14}; /* NARROW: wgmma of 8-bit floats */
enum { NO_EXPONENT = -30000, MOST_COLUMNS = 256 };

/* ``lowest``: the smallest normal number's exponent. NO_EXPONENT: zeros. */
static inline void exponents_of(const double *values, uint32_t count, int lowest, int16_t *into) {
    for (uint32_t i = 0; i < count; i++) {
        int exponent = (int)(bits64_of(values[i]) >> 52 & 0x7ff) - 1023;
        into[i] = (int16_t)(values[i] == 0 ? NO_EXPONENT : exponent < lowest ? lowest : exponent);
    }
}

static inline double cut(double value, int bits) { return f64_of(bits64_of(value) & ~(uint64_t)0 << (53 - bits)); }

/* sums[n], float32, += a[k] * b[k][n]. Infinities and NaNs as usual. */
static inline void add_products(struct adder adder, uint32_t k, uint32_t n, const double *a, const int16_t *a_exponents,
        const double *b, const int16_t *b_exponents, double *sums) {
    int32_t top[MOST_COLUMNS];
    double scale[MOST_COLUMNS], total[MOST_COLUMNS];
    bool finite = true;
    for (uint32_t c = 0; c < n; c++) {
        int16_t own;
        exponents_of(&sums[c], 1, -126, &own);
        top[c] = own;
    }
    for (uint32_t i = 0; i < k; i++) {
        int32_t left = a_exponents[i];
        const int16_t *right = b_exponents + (size_t)i * n;
        for (uint32_t c = 0; c < n; c++) {
            int32_t sum = left + right[c];
            top[c] = sum > top[c] ? sum : top[c];
        }
    }
    for (uint32_t c = 0; c < n; c++) {
        int32_t up = top[c] <= NO_EXPONENT / 2 ? 0 : adder.places - top[c];
        scale[c] = f64_of((uint64_t)(up + 1023) << 52);
        total[c] = trunc(sums[c] * scale[c]) + 0.0; /* nothing is +0 */
    }
    for (uint32_t i = 0; i < k; i++) {
        double left = a[i];
        const double *right = b + (size_t)i * n;
        for (uint32_t c = 0; c < n; c++) total[c] += trunc(left * right[c] * scale[c]);
    }
    for (uint32_t c = 0; c < n; c++) finite &= isfinite(total[c]);
    if (finite)
        for (uint32_t c = 0; c < n; c++) sums[c] = cut(total[c] / scale[c], adder.bits);
    else
        for (uint32_t c = 0; c < n; c++) {
            if (isfinite(total[c])) {
                sums[c] = cut(total[c] / scale[c], adder.bits);
                continue;
            }
            for (uint32_t i = 0; i < k; i++) sums[c] += a[i] * b[(size_t)i * n + c];
        }
}
#endif
