#include <limits.h>

#include "approximate.h"
#include "directed.h"
#include "engine.h"
#include "numbers.h"
#include "video.h"

enum permutation { PERMUTATIONS(NUMBERED) };
enum dot { DOTS(NUMBERED) };
enum conversion { CONVERSIONS(NUMBERED) };

typedef uint8_t LANE_u8;
typedef int8_t LANE_s8;
typedef uint16_t LANE_u16;
typedef int16_t LANE_s16;
typedef uint32_t LANE_u32;
typedef int32_t LANE_s32;
typedef uint64_t LANE_u64;
typedef int64_t LANE_s64;
typedef float LANE_f32;
typedef double LANE_f64;
typedef float LANE_f16;
typedef float LANE_bf16; /* as floats, or doubles if float is not exact */
typedef uint32_t LANE_pred;
#define UNSIGNED(T) UNSIGNED_##T
#define UNSIGNED_u16 uint32_t
#define UNSIGNED_s16 uint32_t
#define UNSIGNED_u32 uint32_t
#define UNSIGNED_s32 uint32_t
#define UNSIGNED_u64 uint64_t
#define UNSIGNED_s64 uint64_t

#define GET_u8(p, i) ((uint8_t)((const uint32_t *)(p))[i])
#define GET_s8(p, i) ((int8_t)((const uint32_t *)(p))[i])
#define GET_u16(p, i) ((uint16_t)((const uint32_t *)(p))[i])
#define GET_s16(p, i) ((int16_t)((const uint32_t *)(p))[i])
#define GET_u32(p, i) (((const uint32_t *)(p))[i])
#define GET_s32(p, i) (((const int32_t *)(p))[i])
#define GET_u64(p, i) (((const uint64_t *)(p))[i])
#define GET_s64(p, i) (((const int64_t *)(p))[i])
#define GET_f32(p, i) (((const float *)(p))[i])
#define GET_f64(p, i) (((const double *)(p))[i])
#define GET_f16(p, i) f16_value((uint16_t)((const uint32_t *)(p))[i])
#define GET_bf16(p, i) bf16_value((uint16_t)((const uint32_t *)(p))[i])
#define GET_pred(p, i) ((*(const uint32_t *)(p) >> (i)) & 1u)
#define WORD_u8 uint32_t
#define WORD_u16 uint32_t
#define WORD_s16 uint32_t
#define WORD_u32 uint32_t
#define WORD_s32 int32_t
#define WORD_u64 uint64_t
#define WORD_s64 int64_t
#define WORD_f32 float
#define WORD_f64 double
#define WORD_f16 uint32_t
#define WORD_bf16 uint32_t
#define PUT_u16(x) ((uint16_t)(x))
#define PUT_s16(x) ((uint16_t)(x))
#define PUT_u32(x) ((uint32_t)(x))
#define PUT_s32(x) ((int32_t)(x))
#define PUT_u64(x) ((uint64_t)(x))
#define PUT_s64(x) ((int64_t)(x))
#define PUT_f32(x) ((float)(x))
#define PUT_f64(x) ((double)(x))
#define PUT_f16(x) f16_bits(x)
#define PUT_bf16(x) bf16_from_double(x)

#define KEEP(T, out) \
    do { \
        WORD_##T *into = unit_of(w, r->d); \
        if (mask == EVERY) \
            for (int i = 0; i < LANES; i++) into[i] = out[i]; \
        else \
            for (int i = 0; i < LANES; i++) into[i] = (mask >> i) & 1 ? out[i] : into[i]; \
    } while (0)
#define KEEP_pred(out) \
    do { \
        uint32_t *into = unit_of(w, r->d); \
        *into = (*into & ~mask) | ((out) & mask); \
    } while (0)

static inline uint32_t gathered(const uint8_t each[LANES]) {
    uint32_t bits = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t eight;
        memcpy(&eight, each + 8 * k, 8);
        bits |= (uint32_t)((eight * 0x0102040810204080ull) >> 56) << (8 * k);
    }
    return bits;
}
#define HEAD(name) static void name(struct warp *w, const struct row *r, uint32_t mask)

#define DIVIDED(T, LEAST) \
    static inline LANE_##T divided_##T(LANE_##T a, LANE_##T b) { \
        return b == 0 ? (LANE_##T) - 1 : (LEAST) && (int64_t)b == -1 ? (LANE_##T)(0 - (uint64_t)a) : a / b; \
    } \
    static inline LANE_##T remainder_##T(LANE_##T a, LANE_##T b) { \
        return b == 0 ? a : (LEAST) && (int64_t)b == -1 ? 0 : a % b; \
    }
DIVIDED(u16, 0)
DIVIDED(s16, 1)
DIVIDED(u32, 0)
DIVIDED(s32, 1)
DIVIDED(u64, 0)
DIVIDED(s64, 1)
static inline uint16_t high_u16(uint16_t a, uint16_t b) { return (uint16_t)(((uint32_t)a * b) >> 16); }
static inline int16_t high_s16(int16_t a, int16_t b) { return (int16_t)(((int32_t)a * b) >> 16); }
static inline uint32_t high_u32(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }
static inline int32_t high_s32(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b) >> 32); }
static inline uint64_t high_u64(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }
static inline int64_t high_s64(int64_t a, int64_t b) { return (int64_t)(((__int128)a * b) >> 64); }
static inline uint32_t reversed(uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
static inline uint64_t field_of(uint64_t a, uint32_t b, uint32_t c, uint32_t bits, bool is_signed) {
    uint32_t start = b & 255, length = c & 255;
    if (length == 0) return 0;
    uint32_t last = start + length - 1 < bits - 1 ? start + length - 1 : bits - 1;
    uint64_t sign = is_signed && (a >> last & 1) ? ~0ull : 0;
    uint64_t value = start >= bits ? 0 : (bits == 32 ? (uint32_t)a : a) >> start;
    uint32_t have = start >= bits ? 0 : last - start + 1;
    uint64_t keep = have >= 64 ? ~0ull : (1ull << have) - 1;
    return (value & keep) | (sign & ~keep);
}
static inline uint64_t inserted(uint64_t a, uint64_t b, uint32_t c, uint32_t e, uint32_t bits) {
    uint32_t start = c & 255, length = e & 255;
    if (start >= bits || length == 0) return b;
    uint64_t keep = (length >= 64 ? ~0ull : (1ull << length) - 1) << start;
    return (b & ~keep) | ((a << start) & keep);
}
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t c, int mode) {
    static const uint16_t f4e[4] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[4] = {0x5670, 0x6701, 0x7012, 0x0123};
    static const uint16_t rc8[4] = {0x0000, 0x1111, 0x2222, 0x3333}, ecl[4] = {0x3210, 0x3211, 0x3222, 0x3333};
    static const uint16_t ecr[4] = {0x0000, 0x1110, 0x2210, 0x3210}, rc16[4] = {0x1010, 0x3232, 0x1010, 0x3232};
    static const uint16_t *const modes[] = {
            [B32] = 0, [F4E] = f4e, [B4E] = b4e, [RC8] = rc8, [ECL] = ecl, [ECR] = ecr, [RC16] = rc16};
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t select = mode != B32 ? modes[mode][c & 3] : c, out = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t nibble = select >> (4 * k) & 15, byte = (uint32_t)(both >> (8 * (nibble & 7))) & 255;
        if (nibble & 8) byte = byte & 0x80 ? 255 : 0;
        out |= byte << (8 * k);
    }
    return out;
}
static inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t out = 0;
    if (table & 1) out |= ~a & ~b & ~c;
    if (table & 2) out |= ~a & ~b & c;
    if (table & 4) out |= ~a & b & ~c;
    if (table & 8) out |= ~a & b & c;
    if (table & 16) out |= a & ~b & ~c;
    if (table & 32) out |= a & ~b & c;
    if (table & 64) out |= a & b & ~c;
    if (table & 128) out |= a & b & c;
    return out;
}
static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, int kinds) {
    for (int k = 0; k < 32; k += 8)
        c += (uint32_t)((kinds & A_SIGNED ? (int8_t)(a >> k) : (int)(uint8_t)(a >> k)) *
                (kinds & B_SIGNED ? (int8_t)(b >> k) : (int)(uint8_t)(b >> k)));
    return c;
}
static inline uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, int kinds) {
    for (int k = 0; k < 2; k++) {
        int shift = 8 * k + (kinds & UPPER_HALF ? 16 : 0);
        c += (uint32_t)((kinds & A_SIGNED ? (int16_t)(a >> 16 * k) : (int)(uint16_t)(a >> 16 * k)) *
                (kinds & B_SIGNED ? (int8_t)(b >> shift) : (int)(uint8_t)(b >> shift)));
    }
    return c;
}
static inline int64_t clamped(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }
static inline uint32_t space_of(uint64_t address) {
    return address >= FUNCTION_BASE  ? GENERIC
            : address >= LOCAL_BASE  ? LOCAL
            : address >= SHARED_BASE ? SHARED
                                     : GLOBAL;
}
static inline float least(float a, float b) {
    return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static inline float most(float a, float b) {
    return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b;
}
static inline float least_nan(float a, float b) { return a != a || b != b ? NAN : least(a, b); }
static inline float most_nan(float a, float b) { return a != a || b != b ? NAN : most(a, b); }
static inline double least64(double a, double b) {
    return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static inline double most64(double a, double b) {
    return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b;
}
static inline double positive(double a) { return a != a ? a : a > 0 ? a : 0.0; }
/* They keep a double's upper 32 bits and flush subnormals. */
static inline double flushed64(double v) { return fabs(v) < 0x1p-1022 ? copysign(0.0, v) : v; }
static inline double approximate64(double v) {
    return isfinite(v) ? flushed64(f64_of((bits64_of(v) + 0x80000000ull) & 0xffffffff00000000ull)) : v;
}
/* As PTX: by the reciprocal, which is 0 above 2^126, and scaled subnormal divisors. */
static inline float quotient(float a, float b) {
    return fabsf(b) < 0x1p-126f ? a / b : a * (fabsf(b) > 0x1p126f ? copysignf(0.0f, b) : 1.0f / b);
}
static inline uint16_t f16_toward_zero(float v) {
    uint16_t bits = f16_bits(v);
    return fabsf(f16_value(bits)) > fabsf(v) && isfinite(v) ? bits - 1 : bits;
}
static inline double rounded(double v, int mode) {
    return mode == ROUND_NEAREST ? rint(v) : mode == ROUND_TO_ZERO ? trunc(v) : mode == ROUND_DOWN ? floor(v) : ceil(v);
}
static inline int64_t to_integer(double v, int mode, int64_t low, int64_t high, int64_t nan) {
    if (v != v) return nan;
    v = rounded(v, mode);
    return v <= (double)low ? low : v >= (double)high ? high : (int64_t)v;
}
static inline uint64_t to_unsigned64(double v, int mode) {
    if (v != v) return 1ull << 63;
    v = rounded(v, mode);
    return v <= 0 ? 0 : v >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)v;
}
static inline int64_t to_signed64(double v, int mode) {
    if (v != v) return INT64_MIN;
    v = rounded(v, mode);
    return v <= -9223372036854775808.0 ? INT64_MIN : v >= 9223372036854775808.0 ? INT64_MAX : (int64_t)v;
}
/* Rounds to 16 bits as the integer would. */
#define EXACT(T) \
    static inline double exact_or_odd_##T(LANE_##T a) { return (double)a; }
EXACT(u8)
EXACT(s8)
EXACT(u16)
EXACT(s16)
EXACT(u32)
EXACT(s32)
static inline double exact_or_odd_u64(uint64_t a) {
    return sum_to_odd((double)(uint32_t)(a >> 32) * 4294967296.0, (double)(uint32_t)a);
}
static inline double exact_or_odd_s64(int64_t a) {
    return a < 0 ? -exact_or_odd_u64(0 - (uint64_t)a) : exact_or_odd_u64((uint64_t)a);
}

static inline int32_t extended_s32(int32_t a, uint32_t bits) {
    return bits == 0 ? 0 : (int32_t)((uint32_t)a << (32 - bits)) >> (32 - bits);
}
/* fns: counts set bits up from ``base``, or down if ``offset`` is negative. */
static inline uint32_t nth_set(uint32_t mask, uint32_t base, int32_t offset) {
    int64_t left = offset < 0 ? -(int64_t)offset : offset;
    if (base > 31) return EVERY;
    if (offset == 0) return mask >> base & 1 ? base : EVERY;
    for (int at = (int)base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
        if (mask >> at & 1 && --left == 0) return (uint32_t)at;
    return EVERY;
}
static inline uint32_t mask_of(uint32_t start, uint32_t width, bool clamps) {
    uint32_t first = start & 31, bits = width & 31, from = clamps && start >= 32 ? 0 : EVERY << first;
    return first + bits >= 32 || (clamps && (start >= 32 || width >= 32)) ? from : from & ~(EVERY << (first + bits));
}
static inline uint16_t flushed_half(uint32_t bits) { return (uint16_t)(bits & 0x7c00 ? bits : bits & 0x8000); }
static inline float signed_as(float size, float a, float b) {
    return size != size ? size : copysignf(size, signbit(a) != signbit(b) ? -1.0f : 1.0f);
}
/* To a neighbour if the rounding asks for it: numbers of one sign are ordered by their bits. */
static inline uint32_t moved(uint32_t bits, uint32_t sign, double near, double value, int how) {
    bool larger = near > value, smaller = near < value;
    int mode = how & 3;
    if (mode == ROUND_NEAREST || !(larger || smaller)) return bits;
    bool down = mode == ROUND_DOWN || (mode == ROUND_TO_ZERO && value > 0);
    if (down && larger) return bits & sign ? bits + 1 : bits == 0 ? sign | 1 : bits - 1;
    if (!down && smaller) return bits & sign ? (bits == sign ? 1 : bits - 1) : bits + 1;
    return bits;
}
static inline uint32_t f16_by(double value, int how) {
    if (how & NOT_NEGATIVE) value = positive(value);
    if (value != value) return 0x7fff;
    uint32_t bits = f16_bits(value);
    bits = moved(bits, 0x8000, f16_value((uint16_t)bits), value, how);
    return how & FINITE && (bits & 0x7fff) == 0x7c00 ? bits - 1 : bits;
}
static inline uint32_t bf16_by(double value, int how) {
    if (how & NOT_NEGATIVE) value = positive(value);
    if (value != value) return 0x7fff;
    uint32_t bits = bf16_from_double(value);
    bits = moved(bits, 0x8000, bf16_value((uint16_t)bits), value, how);
    return how & FINITE && (bits & 0x7fff) == 0x7f80 ? bits - 1 : bits;
}
/* how: ROUND_NEAREST or ROUND_TO_ZERO, and flags. */
static inline uint32_t tf32_by(float value, int how) {
    if (how & NOT_NEGATIVE) value = (float)positive(value);
    uint32_t bits = bits_of(value), last = bits >> 13 & 1;
    if (value != value) return how & NOT_NEGATIVE ? 0x7fffffff : bits & 0xffffe000u;
    bits = how & TIES_AWAY                               ? tf32_bits(bits)
            : (how & 3) == ROUND_TO_ZERO || isinf(value) ? bits & 0xffffe000u
                                                         : (bits + 0xfff + last) & 0xffffe000u;
    return how & FINITE && (bits & 0x7fffffff) == 0x7f800000 ? bits - 0x2000 : bits;
}

#define BODY1(T, A, E) \
    { \
        WORD_##T out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##A a = GET_##A(pa, i); \
            (void)a; \
            out[i] = PUT_##T(E); \
        } \
        KEEP(T, out); \
    }
#define BODY2(T, A, B, E) \
    { \
        WORD_##T out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##A a = GET_##A(pa, i); \
            LANE_##B b = GET_##B(pb, i); \
            (void)a; \
            (void)b; \
            out[i] = PUT_##T(E); \
        } \
        KEEP(T, out); \
    }
#define BODY3(T, A, B, C, E) \
    { \
        WORD_##T out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##A a = GET_##A(pa, i); \
            LANE_##B b = GET_##B(pb, i); \
            LANE_##C c = GET_##C(pc, i); \
            out[i] = PUT_##T(E); \
        } \
        KEEP(T, out); \
    }
#define BODY4(T, A, B, C, F, E) \
    { \
        WORD_##T out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##A a = GET_##A(pa, i); \
            LANE_##B b = GET_##B(pb, i); \
            LANE_##C c = GET_##C(pc, i); \
            LANE_##F e = GET_##F(pe, i); \
            out[i] = PUT_##T(E); \
        } \
        KEEP(T, out); \
    }
#define PRED1(A, E) \
    { \
        uint8_t each[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##A a = GET_##A(pa, i); \
            each[i] = (E) ? 1 : 0; \
        } \
        KEEP_pred(gathered(each)); \
    }
#define PRED2(A, B, E) \
    { \
        uint8_t each[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##A a = GET_##A(pa, i); \
            LANE_##B b = GET_##B(pb, i); \
            each[i] = (E) ? 1 : 0; \
        } \
        KEEP_pred(gathered(each)); \
    }
#define PRED3(A, B, C, E) \
    { \
        uint8_t each[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##A a = GET_##A(pa, i); \
            LANE_##B b = GET_##B(pb, i); \
            LANE_##C c = GET_##C(pc, i); \
            each[i] = (E) ? 1 : 0; \
        } \
        KEEP_pred(gathered(each)); \
    }
#define SELECT(T, plain, pred_body) SELECT_##T(plain, pred_body)
#define SELECT_pred(plain, pred_body) pred_body
#define SELECT_u16(plain, pred_body) plain
#define SELECT_s16(plain, pred_body) plain
#define SELECT_u32(plain, pred_body) plain
#define SELECT_s32(plain, pred_body) plain
#define SELECT_u64(plain, pred_body) plain
#define SELECT_s64(plain, pred_body) plain
#define SELECT_f32(plain, pred_body) plain
#define SELECT_f64(plain, pred_body) plain
#define SELECT_f16(plain, pred_body) plain
#define SELECT_bf16(plain, pred_body) plain
#define OP1(name, D, A, E) \
    HEAD(alu_##name) { \
        const void *pa = unit_of(w, r->a); \
        SELECT(D, BODY1(D, A, E), PRED1(A, E)) \
    }
#define OP2(name, D, A, B, E) \
    HEAD(alu_##name) { \
        const void *pa = unit_of(w, r->a), *pb = unit_of(w, r->b); \
        SELECT(D, BODY2(D, A, B, E), PRED2(A, B, E)) \
    }
#define OP3(name, D, A, B, C, E) \
    HEAD(alu_##name) { \
        const void *pa = unit_of(w, r->a), *pb = unit_of(w, r->b), *pc = unit_of(w, r->c); \
        SELECT(D, BODY3(D, A, B, C, E), PRED3(A, B, C, E)) \
    }
#define OP4(name, D, A, B, C, F, E) \
    HEAD(alu_##name) { \
        const void *pa = unit_of(w, r->a), *pb = unit_of(w, r->b), *pc = unit_of(w, r->c), *pe = unit_of(w, r->e); \
        BODY4(D, A, B, C, F, E) \
    }
#define OP1F(name, E) \
    HEAD(alu_##name) { \
        const float *pa = unit_of(w, r->a); \
        float out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            float a = flushed(pa[i]); \
            out[i] = flushed(E); \
        } \
        KEEP(f32, out); \
    }
#define OP2F(name, E) \
    HEAD(alu_##name) { \
        const float *pa = unit_of(w, r->a), *pb = unit_of(w, r->b); \
        float out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            float a = flushed(pa[i]), b = flushed(pb[i]); \
            out[i] = flushed(E); \
        } \
        KEEP(f32, out); \
    }
#define OP3F(name, E) \
    HEAD(alu_##name) { \
        const float *pa = unit_of(w, r->a), *pb = unit_of(w, r->b), *pc = unit_of(w, r->c); \
        float out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            float a = flushed(pa[i]), b = flushed(pb[i]), c = flushed(pc[i]); \
            out[i] = flushed(E); \
        } \
        KEEP(f32, out); \
    }
#define PAIR_LOOP(T, GETS, E) \
    uint32_t out[LANES]; \
    for (int i = 0; i < LANES; i++) { \
        out[i] = 0; \
        for (int k = 0; k < 32; k += 16) { GETS out[i] |= (uint32_t)PUT_##T(E) << k; } \
    } \
    KEEP(u32, out);
#define PAIR1(name, T, E) \
    HEAD(alu_##name) { \
        const uint32_t *pa = unit_of(w, r->a); \
        PAIR_LOOP(T, float a = T##_value((uint16_t)(pa[i] >> k));, E) \
    }
#define PAIR2(name, T, E) \
    HEAD(alu_##name) { \
        const uint32_t *pa = unit_of(w, r->a), *pb = unit_of(w, r->b); \
        PAIR_LOOP(T, float a = T##_value((uint16_t)(pa[i] >> k)); float b = T##_value((uint16_t)(pb[i] >> k));, E) \
    }
#define PAIR3(name, T, E) \
    HEAD(alu_##name) { \
        const uint32_t *pa = unit_of(w, r->a), *pb = unit_of(w, r->b), *pc = unit_of(w, r->c); \
        PAIR_LOOP(T, float a = T##_value((uint16_t)(pa[i] >> k)); float b = T##_value((uint16_t)(pb[i] >> k)); \
                float c = T##_value((uint16_t)(pc[i] >> k));, E) \
    }
#define CARRY(name, T) \
    HEAD(alu_##name) { \
        const LANE_##T *pa = unit_of(w, r->a), *pb = unit_of(w, r->b); \
        uint32_t in = r->c == NONE ? 0 : *u32_of(w, r->c), carry = 0; \
        LANE_##T out[LANES]; \
        for (int i = 0; i < LANES; i++) { \
            LANE_##T b = r->imm ? ~pb[i] : pb[i], bit = r->c == NONE ? r->imm != 0 : in >> i & 1; \
            unsigned __int128 sum = (unsigned __int128)pa[i] + b + bit; \
            out[i] = (LANE_##T)sum; \
            carry |= (uint32_t)(sum >> (8 * sizeof out[0]) & 1) << i; \
        } \
        KEEP(T, out); \
        if (r->e != NONE) { \
            uint32_t *flag = u32_of(w, r->e); \
            *flag = (*flag & ~mask) | (carry & mask); \
        } \
    }
#include "alu.ops"

#define OP1(name, ...) alu_##name,
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
#define OP1F OP1
#define OP2F OP1
#define OP3F OP1
#define PAIR1 OP1
#define PAIR2 OP1
#define PAIR3 OP1
#define CARRY OP1
alu_function *const alu_table[] = {
#include "alu.ops"
};
bool alu_selects(const struct row *r) {
    alu_function *does = alu_table[r->op - OP_CONTROL_COUNT];
    return does == alu_selp_b16 || does == alu_selp_b32 || does == alu_selp_b64;
}
#define OP1(name, ...) #name,
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
#define OP1F OP1
#define OP2F OP1
#define OP3F OP1
#define PAIR1 OP1
#define PAIR2 OP1
#define PAIR3 OP1
#define CARRY OP1
const char *const alu_names[] = {
#include "alu.ops"
};
#define OP1(...) 1,
#define OP2(...) 2,
#define OP3(...) 3,
#define OP4(...) 4,
#define OP1F OP1
#define OP2F OP2
#define OP3F OP3
#define PAIR1 OP1
#define PAIR2 OP2
#define PAIR3 OP3
#define CARRY OP2
const unsigned char alu_arities[] = {
#include "alu.ops"
};
#define OP1(name, D, A, E) #D " " #A,
#define OP2(name, D, A, B, E) #D " " #A " " #B,
#define OP3(name, D, A, B, C, E) #D " " #A " " #B " " #C,
#define OP4(name, D, A, B, C, F, E) #D " " #A " " #B " " #C " " #F,
#define OP1F(...) "f32 f32",
#define OP2F(...) "f32 f32 f32",
#define OP3F(...) "f32 f32 f32 f32",
#define PAIR1(name, T, E) #T "x2 " #T "x2",
#define PAIR2(name, T, E) #T "x2 " #T "x2 " #T "x2",
#define PAIR3(name, T, E) #T "x2 " #T "x2 " #T "x2 " #T "x2",
#define CARRY(name, T) #T " " #T " " #T " pred pred",
/* Types of d, a, b, c and e. */
const char *const alu_types[] = {
#include "alu.ops"
};
const unsigned alu_count = sizeof alu_names / sizeof alu_names[0];
