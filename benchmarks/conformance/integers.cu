// Arithmetic of integers: every width, high halves, wide products, carries, saturation, dot products of bytes.
#include "conformance.cuh"

BINARY(add_s32, int32_t, int32_t, "bits", static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)))
BINARY(sub_u32, uint32_t, uint32_t, "bits", a - b)
BINARY(add_u64, uint64_t, uint64_t, "bits", a + b)
BINARY(sub_u16, uint16_t, uint16_t, "bits", static_cast<uint16_t>(a - b))
BINARY(add_s8, int8_t, int8_t, "bits", static_cast<int8_t>(a + b))
BINARY(mul_lo_u32, uint32_t, uint32_t, "bits", a * b)
BINARY(mul_lo_u64, uint64_t, uint64_t, "bits", a * b)
BINARY(mul_lo_u16, uint16_t, uint16_t, "bits", static_cast<uint16_t>(a * b))
BINARY(mul_hi_s32, int32_t, int32_t, "bits", __mulhi(a, b))
BINARY(mul_hi_u32, uint32_t, uint32_t, "bits", __umulhi(a, b))
BINARY(mul_hi_s64, int64_t, int64_t, "bits", __mul64hi(a, b))
BINARY(mul_hi_u64, uint64_t, uint64_t, "bits", __umul64hi(a, b))
PTX2(wide_s32, int64_t, "l", int32_t, "r", int32_t, "r", "mul.wide.s32 %0, %1, %2;")
PTX2(wide_u32, uint64_t, "l", uint32_t, "r", uint32_t, "r", "mul.wide.u32 %0, %1, %2;")
PTX2(wide_s16, int32_t, "r", int16_t, "h", int16_t, "h", "mul.wide.s16 %0, %1, %2;")
BINARY(mul_wide_s32, int32_t, int64_t, "bits", wide_s32(a, b))
BINARY(mul_wide_u32, uint32_t, uint64_t, "bits", wide_u32(a, b))
BINARY(mul_wide_s16, int16_t, int32_t, "bits", wide_s16(a, b))
PTX3(mad_lo, int32_t, "r", int32_t, "r", int32_t, "r", int32_t, "r", "mad.lo.s32 %0, %1, %2, %3;")
PTX3(mad_hi, int32_t, "r", int32_t, "r", int32_t, "r", int32_t, "r", "mad.hi.s32 %0, %1, %2, %3;")
PTX3(mad_hi_sat, int32_t, "r", int32_t, "r", int32_t, "r", int32_t, "r", "mad.hi.sat.s32 %0, %1, %2, %3;")
PTX3(mad_wide, int64_t, "l", int32_t, "r", int32_t, "r", int64_t, "l", "mad.wide.s32 %0, %1, %2, %3;")
TERNARY(mad_lo_s32, int32_t, int32_t, "bits", mad_lo(a, b, c))
TERNARY(mad_hi_s32, int32_t, int32_t, "bits", mad_hi(a, b, c))
TERNARY(mad_hi_sat_s32, int32_t, int32_t, "bits", mad_hi_sat(a, b, c))
TERNARY(mad_wide_s32, int32_t, int64_t, "bits", mad_wide(a, b, static_cast<int64_t>(c) << 20))
PTX2(mul24_signed, int32_t, "r", int32_t, "r", int32_t, "r", "mul24.lo.s32 %0, %1, %2;")
PTX2(mul24_high, uint32_t, "r", uint32_t, "r", uint32_t, "r", "mul24.hi.u32 %0, %1, %2;")
BINARY(mul24_lo_s32, int32_t, int32_t, "bits", mul24_signed(a, b))
BINARY(mul24_hi_u32, uint32_t, uint32_t, "bits", mul24_high(a, b))
PTX2(add_saturated, int32_t, "r", int32_t, "r", int32_t, "r", "add.sat.s32 %0, %1, %2;")
PTX2(sub_saturated, int32_t, "r", int32_t, "r", int32_t, "r", "sub.sat.s32 %0, %1, %2;")
BINARY(add_sat_s32, int32_t, int32_t, "bits", add_saturated(a, b))
BINARY(sub_sat_s32, int32_t, int32_t, "bits", sub_saturated(a, b))

static __device__ uint64_t carried(uint64_t a, uint64_t b, bool high) {
    uint32_t r[4];
    asm("{ .reg .u32 al, ah, bl, bh; mov.b64 {al, ah}, %4; mov.b64 {bl, bh}, %5;\n"
        "add.cc.u32 %0, al, bh; addc.cc.u32 %1, ah, bl; addc.cc.u32 %2, al, ah; addc.u32 %3, bl, bh; }"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(a), "l"(b));
    return high ? static_cast<uint64_t>(r[3]) << 32 | r[2] : static_cast<uint64_t>(r[1]) << 32 | r[0];
}
static __device__ uint64_t borrowed(uint64_t a, uint64_t b) {
    uint64_t low, high;
    asm("sub.cc.u64 %0, %2, %3; subc.u64 %1, %3, %2;" : "=l"(low), "=l"(high) : "l"(a), "l"(b));
    return low ^ high << 1;
}
static __device__ uint64_t chained(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t low, high;
    asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %4;" : "=r"(low), "=r"(high) : "r"(a), "r"(b), "r"(c));
    return static_cast<uint64_t>(high) << 32 | low;
}
BINARY(add_carry_low, uint64_t, uint64_t, "bits", carried(a, b, false))
BINARY(add_carry_high, uint64_t, uint64_t, "bits", carried(a, b, true))
BINARY(sub_borrow, uint64_t, uint64_t, "bits", borrowed(a, b))
TERNARY(mad_carry, uint32_t, uint64_t, "bits", chained(a, b, c))
BINARY(product_128, uint64_t, uint64_t, "bits", static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b + a) >> 61))

// What division by zero and INT_MIN / -1 give is not specified.
BINARY(div_s32, int32_t, int32_t, "bits", b == 0 || (b == -1 && a == INT32_MIN) ? 0 : a / b)
BINARY(rem_s32, int32_t, int32_t, "bits", b == 0 || (b == -1 && a == INT32_MIN) ? 0 : a % b)
BINARY(div_u32, uint32_t, uint32_t, "bits", b ? a / b : 0)
BINARY(rem_u64, uint64_t, uint64_t, "bits", b ? a % b : 0)
BINARY(div_s64, int64_t, int64_t, "bits", b == 0 || (b == -1 && a == INT64_MIN) ? 0 : a / b)
BINARY(div_s16, int16_t, int16_t, "bits", static_cast<int16_t>(b ? a / b : 0))
BINARY(min_s32, int32_t, int32_t, "bits", min(a, b))
BINARY(max_u32, uint32_t, uint32_t, "bits", max(a, b))
BINARY(min_u64, uint64_t, uint64_t, "bits", a < b ? a : b)
BINARY(max_s64, int64_t, int64_t, "bits", a > b ? a : b)
PTX2(min_short, int16_t, "h", int16_t, "h", int16_t, "h", "min.s16 %0, %1, %2;")
PTX2(max_short, uint16_t, "h", uint16_t, "h", uint16_t, "h", "max.u16 %0, %1, %2;")
BINARY(min_s16, int16_t, int16_t, "bits", min_short(a, b))
BINARY(max_u16, uint16_t, uint16_t, "bits", max_short(a, b))
PTX1(abs_word, int32_t, "r", int32_t, "r", "abs.s32 %0, %1;")
PTX1(neg_long, int64_t, "l", int64_t, "l", "neg.s64 %0, %1;")
UNARY(abs_s32, int32_t, int32_t, "bits", abs_word(a))
UNARY(neg_s64, int64_t, int64_t, "bits", neg_long(a))
TERNARY(sad_s32, int32_t, uint32_t, "bits", __sad(a, b, static_cast<uint32_t>(c)))
TERNARY(sad_u32, uint32_t, uint32_t, "bits", __usad(a, b, c))
BINARY(average_s32, int32_t, int32_t, "bits", __hadd(a, b) ^ __rhadd(a, b) << 1)
TERNARY(dp4a_s32, int32_t, int32_t, "bits", __dp4a(a, b, c))
TERNARY(dp4a_u32, uint32_t, uint32_t, "bits", __dp4a(a, b, c))
PTX3(mixed_dp4a, int32_t, "r", uint32_t, "r", int32_t, "r", int32_t, "r", "dp4a.u32.s32 %0, %1, %2, %3;")
PTX3(mixed_dp2a, int32_t, "r", int32_t, "r", uint32_t, "r", int32_t, "r", "dp2a.hi.s32.u32 %0, %1, %2, %3;")
TERNARY(dp4a_mixed, uint32_t, int32_t, "bits", mixed_dp4a(a, static_cast<int32_t>(b), static_cast<int32_t>(c)))
TERNARY(dp2a_lo, int32_t, int32_t, "bits", __dp2a_lo(a, b, c))
TERNARY(dp2a_hi_mixed, uint32_t, int32_t, "bits", mixed_dp2a(static_cast<int32_t>(a), b, static_cast<int32_t>(c)))
BINARY(bytes_add, uint32_t, uint32_t, "bits", __vadd4(a, b))
BINARY(bytes_add_sat, uint32_t, uint32_t, "bits", __vaddss4(a, b))
BINARY(bytes_difference, uint32_t, uint32_t, "bits", __vabsdiffu4(a, b))
BINARY(halves_max, uint32_t, uint32_t, "bits", __vmaxs2(a, b))
BINARY(bytes_compare, uint32_t, uint32_t, "bits", __vcmpgts4(a, b))
