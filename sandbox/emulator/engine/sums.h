/* Adds like an H200's tensor cores, bit for bit as benchmarks/gpu/hopper.py measured.
 *
 * All products and the old value are cut, toward zero, at some places below the largest exponent (a product's is the
 * sum of its factors'). Their exact sum is cut, toward zero, to the result's bits. */
#ifndef SUMS_H
#define SUMS_H
#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#include "names.h"
#include "numbers.h"

enum element { ELEMENTS(NUMBERED) };
/* Of the smallest normal numbers. */
static const int LOWEST[] = {[F16] = -14, [BF16] = -126, [TF32] = -126, [E4M3] = -6, [E5M2] = -14};

/* Places below the largest exponent; bits of the sum. */
struct adder { int places, bits; };
static const struct adder WIDE_ADDER = {25, 24}, NARROW_ADDER = {13, 14}; /* the second is for wgmma of 8-bit floats */
enum { NO_EXPONENT = -15000, MOST_COLUMNS = 256 }; /* two exponents' sum has 16 bits */

/* ``lowest``: the smallest normal number's exponent. NO_EXPONENT: zeros. */
static inline void exponents_of(const double *values, uint32_t count, int lowest, int16_t *into) {
    for (uint32_t i = 0; i < count; i++) {
        int exponent = (int)(bits64_of(values[i]) >> 52 & 0x7ff) - 1023;
        into[i] = (int16_t)(values[i] == 0 ? NO_EXPONENT : exponent < lowest ? lowest : exponent);
    }
}

static inline double cut(double value, int bits) { return f64_of(bits64_of(value) & ~(uint64_t)0 << (53 - bits)); }

/* Adds cut products to total[n]; rows of b have ``apart`` columns. */
static inline void add_cut(
        uint32_t k, uint32_t n, uint32_t apart, const double *a, const double *b, const double *scale, double *total) {
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t c = 0; c < n; c++) total[c] += trunc(a[i] * b[(size_t)i * apart + c] * scale[c]);
}

#ifdef __AVX__
#define FOUR 4 /* doubles of a vector */
/* As ``add_cut``, for some vectors of columns, whose totals stay in registers. The compiler calls trunc one by one. */
static inline __attribute__((always_inline)) void add_cut_vectors(uint32_t k, const uint32_t vectors, uint32_t apart,
        const double *a, const double *b, const double *scale, double *total) {
    __m256d sums[4], scales[4];
    for (uint32_t v = 0; v < vectors; v++) {
        sums[v] = _mm256_loadu_pd(total + FOUR * v);
        scales[v] = _mm256_loadu_pd(scale + FOUR * v);
    }
    for (uint32_t i = 0; i < k; i++, b += apart) {
        __m256d left = _mm256_set1_pd(a[i]);
        for (uint32_t v = 0; v < vectors; v++) {
            __m256d product = _mm256_mul_pd(_mm256_mul_pd(left, _mm256_loadu_pd(b + FOUR * v)), scales[v]);
            sums[v] = _mm256_add_pd(sums[v], _mm256_round_pd(product, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
        }
    }
    for (uint32_t v = 0; v < vectors; v++) _mm256_storeu_pd(total + FOUR * v, sums[v]);
}
#endif

/* One row of D: sums[n], of float32, += a[k] * b[k][n], by an adder. Infinities and NaNs behave as in any sum. */
static inline void add_products(struct adder adder, uint32_t k, uint32_t n, const double *a, const int16_t *a_exponents,
        const double *b, const int16_t *b_exponents, double *sums) {
    int16_t top[MOST_COLUMNS];
    double scale[MOST_COLUMNS], total[MOST_COLUMNS];
    bool finite = true;
    exponents_of(sums, n, -126, top);
    for (uint32_t i = 0; i < k; i++) {
        int16_t left = a_exponents[i];
        const int16_t *right = b_exponents + (size_t)i * n;
        for (uint32_t c = 0; c < n; c++) {
            int16_t sum = (int16_t)(left + right[c]);
            top[c] = sum > top[c] ? sum : top[c];
        }
    }
    for (uint32_t c = 0; c < n; c++) {
        int32_t up = top[c] <= NO_EXPONENT / 2 ? 0 : adder.places - top[c];
        scale[c] = f64_of((uint64_t)(up + 1023) << 52);
        total[c] = trunc(sums[c] * scale[c]) + 0.0; /* nothing is +0 */
    }
    uint32_t done = 0;
#ifdef __AVX__
    for (; done + 4 * FOUR <= n; done += 4 * FOUR) add_cut_vectors(k, 4, n, a, b + done, scale + done, total + done);
    for (; done + 2 * FOUR <= n; done += 2 * FOUR) add_cut_vectors(k, 2, n, a, b + done, scale + done, total + done);
#endif
    add_cut(k, n - done, n, a, b + done, scale + done, total + done);
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
