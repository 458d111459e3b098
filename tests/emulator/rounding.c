/* Compares directed.h with the processor's own rounding, and approximate.h with the C library's doubles, and prints
 * what differs. Arguments: how many operands of each kind. Compile it with -frounding-math. */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../sandbox/emulator/engine/approximate.h"
#include "../../sandbox/emulator/engine/directed.h"

static const int MODES[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static uint64_t state = 88172645463325252ull;
static long wrong;

static uint64_t drawn(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static const double EDGES[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-45, -1e-45, 0x1p-126, 0x1p-149, 0x1p-1022, 0x1p-1074,
        -0x1p-1074, 0x1.fffffep127, 0x1.fffffffffffffp1023, INFINITY, -INFINITY, NAN, 0x1p-537, 0x1.8p-538, 0x1p512};

/* Edges, any bits, numbers near 1, tiny ones, and near the one before, so sums cancel. */
static double any64(double near) {
    uint64_t bits = drawn();
    switch (drawn() % 8) {
    case 0: return EDGES[bits % (sizeof EDGES / sizeof *EDGES)];
    case 1: return f64_of((bits & 0x800fffffffffffffull) | (1018 + bits % 10) << 52);
    case 2: return f64_of((bits & 0x800fffffffffffffull) | (bits >> 20) % 60 << 52);
    case 3: return -near * (1 + (double)(bits % 5) * 0x1p-52);
    case 4: return (double)(int64_t)(bits % 64) - 32;
    default: return f64_of(bits);
    }
}
static float any32(float near) {
    uint32_t bits = (uint32_t)drawn();
    switch (drawn() % 8) {
    case 0: return (float)EDGES[bits % (sizeof EDGES / sizeof *EDGES)];
    case 1: return f32_of((bits & 0x807fffffu) | (122 + bits % 10) << 23);
    case 2: return f32_of((bits & 0x807fffffu) | (bits >> 9) % 30 << 23);
    case 3: return -near * (1 + (float)(bits % 5) * 0x1p-23f);
    case 4: return (float)(int)(bits % 64) - 32;
    default: return f32_of(bits);
    }
}

#define CHECK(T, BITS, name, own, theirs) \
    do { \
        fesetround(MODES[mode]); \
        volatile T want = theirs; \
        fesetround(FE_TONEAREST); \
        T got = own; \
        if (BITS(got) != BITS(want) && !(isnan(got) && isnan(want)) && wrong++ < 20) \
            printf("%s mode %d of %a %a %a: %a, not %a\n", name, mode, (double)a, (double)b, (double)c, (double)got, \
                    (double)want); \
    } while (0)

static void near_to(const char *name, float x, float got, double want, double most) {
    double unit = fmax(ldexp(1, ilogb(want) - 23), 0x1p-149);
    bool same = isnan(want) ? isnan(got) : isinf((float)want) ? (double)got == (double)(float)want
                                                              : fabs(got - want) <= most * unit;
    if (!same && wrong++ < 20) printf("%s of %a: %a, not %a\n", name, (double)x, (double)got, want);
}

int main(int count, char **given) {
    long most = count > 1 ? atol(given[1]) : 100000;
    volatile double a = 0, b = 0, c = 0;
    for (long i = 0; i < most; i++) {
        a = any64(1);
        b = any64(a);
        c = any64(drawn() & 1 ? a * b : a);
        for (int mode = 0; mode < 4; mode++) {
            CHECK(double, bits64_of, "add.f64", add_by_f64(a, b, mode), a + b);
            CHECK(double, bits64_of, "sub.f64", sub_by_f64(a, b, mode), a - b);
            CHECK(double, bits64_of, "mul.f64", mul_by_f64(a, b, mode), a *b);
            CHECK(double, bits64_of, "div.f64", div_by_f64(a, b, mode), a / b);
            CHECK(double, bits64_of, "fma.f64", fma_by_f64(a, b, c, mode), fma(a, b, c));
            CHECK(double, bits64_of, "sqrt.f64", sqrt_by_f64(a, mode), sqrt(a));
            CHECK(float, bits_of, "f32.f64", float_by(a, mode), (float)a);
        }
    }
    for (long i = 0; i < most; i++) {
        volatile float x = any32(1), y = any32(x), z = any32(drawn() & 1 ? x * y : x);
        a = x, b = y, c = z;
        for (int mode = 0; mode < 4; mode++) {
            CHECK(float, bits_of, "add.f32", add_by_f32(x, y, mode), x + y);
            CHECK(float, bits_of, "sub.f32", sub_by_f32(x, y, mode), x - y);
            CHECK(float, bits_of, "mul.f32", mul_by_f32(x, y, mode), x *y);
            CHECK(float, bits_of, "div.f32", div_by_f32(x, y, mode), x / y);
            CHECK(float, bits_of, "fma.f32", fma_by_f32(x, y, z, mode), fmaf(x, y, z));
            CHECK(float, bits_of, "sqrt.f32", sqrt_by_f32(x, mode), sqrtf(x));
        }
        near_to("ex2", x, exp2_of(x), exp2((double)x), 0.51);
        near_to("lg2", x, log2_of(x), log2((double)x), 0.51);
        near_to("tanh", x, tanh_of(x), tanh((double)x), 0.51);
        if (fabsf(x) < 100) {
            near_to("sin", x, sine_of(x), sin((double)x), 0.51);
            near_to("cos", x, cosine_of(x), cos((double)x), 0.51);
        } else if (isfinite(x) && (fabs(sine_of(x) - sin((double)x)) > 1e-7 || fabs(cosine_of(x) - cos((double)x)) > 1e-7) &&
                wrong++ < 20)
            printf("sin or cos of %a: %a %a\n", (double)x, (double)sine_of(x), (double)cosine_of(x));
    }
    for (long i = 0; i < most; i++) {
        volatile uint64_t word = drawn() >> drawn() % 64;
        volatile int64_t number = (int64_t)(drawn() & 1 ? word : 0 - word);
        a = (double)word, b = (double)number;
        for (int mode = 0; mode < 4; mode++) {
            CHECK(double, bits64_of, "f64.u64", double_of_u64(word, mode), (double)word);
            CHECK(double, bits64_of, "f64.s64", double_of_s64(number, mode), (double)number);
        }
    }
    printf("%ld differ\n", wrong);
    return wrong != 0;
}
