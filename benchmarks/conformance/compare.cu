// Comparisons, with NaN among the operands, and what is made of their predicates.
#include "conformance.cuh"

#define ASKED(type, x, kind) \
    static __device__ uint32_t asked_##kind(type a, type b) { \
        uint32_t r; \
        asm("{ .reg .pred p; .reg .u32 t; mov.u32 %0, 0;\n" \
            "setp.eq." #kind " p, %1, %2; selp.u32 t, 1, 0, p; or.b32 %0, %0, t; setp.ne." #kind " p, %1, %2; selp.u32 t, 2, 0, p; or.b32 %0, %0, t;\n" \
            "setp.lt." #kind " p, %1, %2; selp.u32 t, 4, 0, p; or.b32 %0, %0, t; setp.le." #kind " p, %1, %2; selp.u32 t, 8, 0, p; or.b32 %0, %0, t;\n" \
            "setp.gt." #kind " p, %1, %2; selp.u32 t, 16, 0, p; or.b32 %0, %0, t; setp.ge." #kind " p, %1, %2; selp.u32 t, 32, 0, p; or.b32 %0, %0, t;\n" \
            "setp.equ." #kind " p, %1, %2; selp.u32 t, 64, 0, p; or.b32 %0, %0, t; setp.neu." #kind " p, %1, %2; selp.u32 t, 128, 0, p; or.b32 %0, %0, t;\n" \
            "setp.ltu." #kind " p, %1, %2; selp.u32 t, 256, 0, p; or.b32 %0, %0, t; setp.leu." #kind " p, %1, %2; selp.u32 t, 512, 0, p; or.b32 %0, %0, t;\n" \
            "setp.gtu." #kind " p, %1, %2; selp.u32 t, 1024, 0, p; or.b32 %0, %0, t; setp.geu." #kind " p, %1, %2; selp.u32 t, 2048, 0, p; or.b32 %0, %0, t;\n" \
            "setp.num." #kind " p, %1, %2; selp.u32 t, 4096, 0, p; or.b32 %0, %0, t; setp.nan." #kind " p, %1, %2; selp.u32 t, 8192, 0, p; or.b32 %0, %0, t; }" \
            : "=&r"(r) : x(a), x(b)); \
        return r; \
    } \
    BINARY(setp_##kind, type, uint32_t, "bits", asked_##kind(a, b))
ASKED(float, "f", f32)
ASKED(double, "d", f64)
#define ORDERED(type, x, kind) \
    static __device__ uint32_t asked_##kind(type a, type b) { \
        uint32_t r; \
        asm("{ .reg .pred p, q, s; .reg .u32 t; setp.lt." #kind " p|q, %1, %2; selp.u32 %0, 1, 0, p; selp.u32 t, 2, 0, q; or.b32 %0, %0, t;\n" \
            "setp.eq.and." #kind " s, %1, %2, q; selp.u32 t, 4, 0, s; or.b32 %0, %0, t; setp.ge.or." #kind " s|q, %1, %2, !p; selp.u32 t, 8, 0, s; or.b32 %0, %0, t;\n" \
            "selp.u32 t, 16, 0, q; or.b32 %0, %0, t; setp.gt.xor." #kind " s, %1, %2, q; selp.u32 t, 32, 0, s; or.b32 %0, %0, t; }" \
            : "=&r"(r) : x(a), x(b)); \
        return r; \
    } \
    BINARY(setp_##kind, type, uint32_t, "bits", asked_##kind(a, b))
ORDERED(int32_t, "r", s32) ORDERED(uint32_t, "r", u32) ORDERED(int64_t, "l", s64) ORDERED(uint64_t, "l", u64) ORDERED(int16_t, "h", s16) ORDERED(uint16_t, "h", u16)
BINARY(unsigned_words, uint32_t, uint32_t, "bits", (a < b) + 2 * (a <= b) + 4 * (static_cast<int32_t>(a) < static_cast<int32_t>(b)))
PTX2(set_word, uint32_t, "r", float, "f", float, "f", "set.lt.u32.f32 %0, %1, %2;")
PTX2(set_float, float, "f", float, "f", float, "f", "set.geu.f32.f32 %0, %1, %2;")
BINARY(set_u32_f32, float, uint32_t, "bits", set_word(a, b))
BINARY(set_f32_f32, float, float, "bits", set_float(a, b))
PTX3(chosen_by_int, float, "f", float, "f", float, "f", int32_t, "r", "slct.f32.s32 %0, %1, %2, %3;")
PTX3(chosen_by_float, int32_t, "r", int32_t, "r", int32_t, "r", float, "f", "slct.s32.f32 %0, %1, %2, %3;")
BINARY(slct_s32, float, float, "bits", chosen_by_int(a, b, static_cast<int32_t>(threadIdx.x % 3) - 1))
BINARY(slct_f32, int32_t, int32_t, "bits", chosen_by_float(a, b, conformance::Source<float>::at(i % 20)))
BINARY(selections, double, double, "bits", (a < b && a > -1) || !(b < 2) ? a : b)
