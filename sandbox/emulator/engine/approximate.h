/* ex2, lg2, sin, cos and tanh with the same bits on every processor, unlike a C library's: basic arithmetic in double,
 * rounded to float. Within an ulp, closer than PTX asks. */
#ifndef APPROXIMATE_H
#define APPROXIMATE_H
#include "numbers.h"

/* Horner's scheme, highest power first. */
#define SERIES(sum, a, coefficients) \
    for (unsigned k = 0; k < sizeof coefficients / sizeof *coefficients; k++) sum = sum * (a) + coefficients[k]

/* |f| <= 1/2; the series of e^(f ln 2). */
static inline double exp2_series(double f) {
    static const double of[] = {1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0, 1 / 720.0,
            1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5, 1, 1};
    double sum = 0, x = f * 0x1.62e42fefa39efp-1;
    SERIES(sum, x, of);
    return sum;
}
static inline double exp2_double(double x) {
    double n = rint(x);
    return exp2_series(x - n) * f64_of((uint64_t)(1023 + (int)n) << 52);
}
static inline float exp2_of(float x) {
    if (x != x) return x;
    return (float)exp2_double(x > 200.0f ? 200.0 : x < -200.0f ? -200.0 : (double)x);
}

static inline float log2_of(float x) {
    if (x != x || x == INFINITY) return x;
    if (x == 0) return -INFINITY;
    if (x < 0) return NAN;
    uint64_t bits = bits64_of(x);
    int exponent = (int)(bits >> 52) - 1023;
    double m = f64_of((bits & 0xfffffffffffffull) | 1023ull << 52);
    if (m > 0x1.6a09e667f3bcdp0) {
        m *= 0.5;
        exponent++;
    }
    static const double of[] = {
            1 / 19.0, 1 / 17.0, 1 / 15.0, 1 / 13.0, 1 / 11.0, 1 / 9.0, 1 / 7.0, 1 / 5.0, 1 / 3.0, 1};
    double s = (m - 1) / (m + 1), square = s * s, sum = 0; /* of atanh(s) / s */
    SERIES(sum, square, of);
    return (float)(exponent + s * sum * 0x1.71547652b82fep1);
}

/* Bits of 2/pi behind the point. */
static const uint32_t TWO_OVER_PI[] = {
        0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
/* The rest by pi/2, to the nearest multiple, whose last two bits go to ``quadrant``. */
static inline double reduced(float x, int *quadrant) {
    double a = fabs((double)x), n, rest;
    if (a < 0x1p24) {
        n = rint(a * 0x1.45f306dc9c883p-1);
        rest = (a - n * 0x1.921fb5p0) - n * 0x1.110b4611a6263p-26;
        *quadrant = (int)n & 3;
    } else { /* 24 bits times 2/pi's: one word above the point, two below */
        int shift = (int)(bits_of((float)a) >> 23) - 150;
        uint64_t mantissa = (bits_of((float)a) & 0x7fffffu) | 0x800000u, words[3];
        for (int i = 0; i < 3; i++) {
            int first = shift + 32 * i - 32, word = (first + 32) / 32 - 1, by = (first + 32) % 32;
            uint64_t two = (uint64_t)(word < 0 ? 0 : TWO_OVER_PI[word]) << 32 | TWO_OVER_PI[word + 1];
            words[i] = two << by >> 32;
        }
        uint64_t low = mantissa * words[2], middle = mantissa * words[1] + (low >> 32),
                 high = mantissa * words[0] + (middle >> 32);
        uint64_t fraction = middle << 32 | (uint32_t)low;
        int64_t away = (int64_t)fraction; /* nearer to the next multiple */
        *quadrant = (int)(high + (away < 0)) & 3;
        rest = (double)away * 0x1p-64 * 0x1.921fb54442d18p0;
    }
    if (x < 0) {
        *quadrant = -*quadrant & 3;
        rest = -rest;
    }
    return rest;
}
static inline double sine_series(double x) {
    static const double of[] = {
            -1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0, 1};
    double square = x * x, sum = 0;
    SERIES(sum, square, of);
    return sum * x;
}
static inline double cosine_series(double x) {
    static const double of[] = {
            -1 / 87178291200.0, 1 / 479001600.0, -1 / 3628800.0, 1 / 40320.0, -1 / 720.0, 1 / 24.0, -0.5, 1};
    double square = x * x, sum = 0;
    SERIES(sum, square, of);
    return sum;
}
static inline float circular(float x, int quarters) {
    if (!isfinite(x)) return NAN;
    int quadrant;
    double rest = reduced(x, &quadrant);
    quadrant += quarters;
    double value = quadrant & 1 ? cosine_series(rest) : sine_series(rest);
    return (float)(quadrant & 2 ? -value : value);
}
static inline float sine_of(float x) { return x == 0 ? x : circular(x, 0); }
static inline float cosine_of(float x) { return circular(x, 1); }

static inline float tanh_of(float x) {
    double a = x, size = fabs(a);
    if (x != x || x == 0) return x;
    if (size > 20) return x > 0 ? 1.0f : -1.0f;
    if (size < 1) { /* a continued fraction */
        double square = a * a, sum = 0;
        for (int k = 19; k > 1; k -= 2) sum = square / (k + sum);
        return (float)(a / (1 + sum));
    }
    double value = 1 - 2 / (exp2_double(size * 0x1.71547652b82fep1) + 1);
    return (float)(x > 0 ? value : -value);
}
#endif
