// Conversions between integers and floats of every width, in all roundings, with saturation.
#include "conformance.cuh"

#define TO_INTEGERS(T, from, mode) \
    UNARY(from##_to_s32_##mode, T, int32_t, "bits", __##from##2int_##mode(a)) UNARY(from##_to_u32_##mode, T, uint32_t, "bits", __##from##2uint_##mode(a)) \
    UNARY(from##_to_s64_##mode, T, int64_t, "bits", __##from##2ll_##mode(a)) UNARY(from##_to_u64_##mode, T, uint64_t, "bits", __##from##2ull_##mode(a))
TO_INTEGERS(float, float, rn) TO_INTEGERS(float, float, rz) TO_INTEGERS(float, float, ru) TO_INTEGERS(float, float, rd)
TO_INTEGERS(double, double, rn) TO_INTEGERS(double, double, rz) TO_INTEGERS(double, double, ru) TO_INTEGERS(double, double, rd)
#define FROM_INTEGERS(mode) \
    UNARY(s32_to_f32_##mode, int32_t, float, "bits", __int2float_##mode(a)) UNARY(u32_to_f32_##mode, uint32_t, float, "bits", __uint2float_##mode(a)) \
    UNARY(s64_to_f32_##mode, int64_t, float, "bits", __ll2float_##mode(a)) UNARY(u64_to_f32_##mode, uint64_t, float, "bits", __ull2float_##mode(a)) \
    UNARY(s64_to_f64_##mode, int64_t, double, "bits", __ll2double_##mode(a)) UNARY(u64_to_f64_##mode, uint64_t, double, "bits", __ull2double_##mode(a)) \
    UNARY(f64_to_f32_##mode, double, float, "bits", __double2float_##mode(a))
FROM_INTEGERS(rn) FROM_INTEGERS(rz) FROM_INTEGERS(ru) FROM_INTEGERS(rd)
UNARY(f32_to_f64, float, double, "bits", static_cast<double>(a))
UNARY(s32_to_f64, int32_t, double, "bits", static_cast<double>(a))
#define CONVERTED(name, R, d, T, x, text, out) PTX1(to_##name, R, d, T, x, text) UNARY(name, T, out, "bits", static_cast<out>(to_##name(a)))
CONVERTED(cvt_s16_f32, int16_t, "h", float, "f", "cvt.rzi.s16.f32 %0, %1;", int16_t)
CONVERTED(cvt_u16_f32, uint16_t, "h", float, "f", "cvt.rni.u16.f32 %0, %1;", uint16_t)
CONVERTED(cvt_s8_f32, int32_t, "r", float, "f", "cvt.rzi.s8.f32 %0, %1;", int8_t)
CONVERTED(cvt_u8_f32, uint32_t, "r", float, "f", "cvt.rpi.u8.f32 %0, %1;", uint8_t)
CONVERTED(cvt_sat_f32, float, "f", float, "f", "cvt.sat.f32.f32 %0, %1;", float)
CONVERTED(cvt_sat_f32_f64, float, "f", double, "d", "cvt.rn.sat.f32.f64 %0, %1;", float)
CONVERTED(cvt_sat_s8_s32, int32_t, "r", int32_t, "r", "cvt.sat.s8.s32 %0, %1;", int32_t)
CONVERTED(cvt_sat_u8_s32, uint32_t, "r", int32_t, "r", "cvt.sat.u8.s32 %0, %1;", uint32_t)
CONVERTED(cvt_sat_s16_s64, int16_t, "h", int64_t, "l", "cvt.sat.s16.s64 %0, %1;", int16_t)
CONVERTED(cvt_sat_u32_s64, uint32_t, "r", int64_t, "l", "cvt.sat.u32.s64 %0, %1;", uint32_t)
CONVERTED(cvt_sat_s32_u32, int32_t, "r", uint32_t, "r", "cvt.sat.s32.u32 %0, %1;", int32_t)
CONVERTED(cvt_s8_s32, int32_t, "r", int32_t, "r", "cvt.s8.s32 %0, %1;", int32_t)
CONVERTED(cvt_u64_s8, uint64_t, "l", int32_t, "r", "cvt.u64.s8 %0, %1;", uint64_t)
CONVERTED(cvt_s64_u16, int64_t, "l", uint16_t, "h", "cvt.s64.u16 %0, %1;", int64_t)
CONVERTED(cvt_f32_u8, float, "f", uint32_t, "r", "cvt.rn.f32.u8 %0, %1;", float)
CONVERTED(cvt_f64_s16, double, "d", int16_t, "h", "cvt.rn.f64.s16 %0, %1;", double)
CONVERTED(cvt_tf32, uint32_t, "r", float, "f", "cvt.rna.tf32.f32 %0, %1;", uint32_t)
UNARY(bit_casts, float, uint64_t, "bits", static_cast<uint64_t>(__double_as_longlong(static_cast<double>(a))) ^ __float_as_uint(a))
UNARY(double_parts, double, int64_t, "bits", static_cast<int64_t>(__double2hiint(a)) * 5 + __double2loint(a))
