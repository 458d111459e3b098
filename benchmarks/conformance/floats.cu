// Basic arithmetic of float and double, in all roundings: bit for bit.
#include "conformance.cuh"

#define ROUNDED(mode) \
    BINARY(add_##mode##_f32, float, float, "bits", __fadd_##mode(a, b)) BINARY(sub_##mode##_f32, float, float, "bits", __fsub_##mode(a, b)) \
    BINARY(mul_##mode##_f32, float, float, "bits", __fmul_##mode(a, b)) TERNARY(fma_##mode##_f32, float, float, "bits", __fmaf_##mode(a, b, c)) \
    BINARY(div_##mode##_f32, float, float, "bits", __fdiv_##mode(a, b)) UNARY(sqrt_##mode##_f32, float, float, "bits", __fsqrt_##mode(a)) \
    UNARY(rcp_##mode##_f32, float, float, "bits", __frcp_##mode(a))
ROUNDED(rn) ROUNDED(rz) ROUNDED(ru) ROUNDED(rd)
#define ROUNDED64(mode) \
    BINARY(add_##mode##_f64, double, double, "bits", __dadd_##mode(a, b)) BINARY(mul_##mode##_f64, double, double, "bits", __dmul_##mode(a, b)) \
    TERNARY(fma_##mode##_f64, double, double, "bits", __fma_##mode(a, b, c)) BINARY(div_##mode##_f64, double, double, "bits", __ddiv_##mode(a, b)) \
    UNARY(sqrt_##mode##_f64, double, double, "bits", __dsqrt_##mode(a))
ROUNDED64(rn) ROUNDED64(rz) ROUNDED64(ru) ROUNDED64(rd)
BINARY(min_f32, float, float, "bits", fminf(a, b))
BINARY(max_f32, float, float, "bits", fmaxf(a, b))
BINARY(min_f64, double, double, "bits", fmin(a, b))
BINARY(max_f64, double, double, "bits", fmax(a, b))
PTX2(min_with_nan, float, "f", float, "f", float, "f", "min.NaN.f32 %0, %1, %2;")
PTX2(max_abs_xor, float, "f", float, "f", float, "f", "max.NaN.xorsign.abs.f32 %0, %1, %2;")
BINARY(min_nan_f32, float, float, "bits", min_with_nan(a, b))
UNARY(abs_neg_f32, float, float, "bits", -fabsf(a))
UNARY(abs_neg_f64, double, double, "bits", -fabs(a))
BINARY(copysign_f32, float, float, "bits", copysignf(a, b))
BINARY(copysign_f64, double, double, "bits", copysign(a, b))
UNARY(saturate_f32, float, float, "bits", __saturatef(a))
TERNARY(fma_saturate_f32, float, float, "bits", __saturatef(fmaf(a, b, c)))
BINARY(fmod_f32, float, float, "bits", fmodf(a, b))
BINARY(remainder_f32, float, float, "bits", remainderf(a, b))
UNARY(round_f32, float, float, "bits", rintf(a) + 2 * floorf(a) + 3 * ceilf(a) + 5 * truncf(a) + 7 * roundf(a))
UNARY(round_f64, double, double, "bits", rint(a) + 2 * floor(a) + 3 * ceil(a) + 5 * trunc(a) + 7 * round(a))
BINARY(nextafter_f32, float, float, "bits", nextafterf(a, b))
static __device__ float frexp_of(float a) { int e; float m = frexpf(a, &e); return isfinite(a) ? m + e : m; }
UNARY(frexp_f32, float, float, "bits", frexp_of(a))
UNARY(ldexp_f32, float, float, "bits", ldexpf(a, 13) + ldexpf(a, -150))
static __device__ float modf_of(float a) { float whole; float part = modff(a, &whole); return part * 3 + whole; }
UNARY(modf_f32, float, float, "bits", modf_of(a))
UNARY(logb_f32, float, float, "bits", logbf(a))
BINARY(fdim_f32, float, float, "bits", fdimf(a, b))
UNARY(classes_f32, float, int32_t, "bits", isnan(a) + 2 * !!isinf(a) + 4 * !!isfinite(a) + 8 * !!signbit(a))
PTX1(is_subnormal, uint32_t, "r", float, "f", "{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; }")
PTX1(is_normal, uint32_t, "r", double, "d", "{ .reg .pred p; testp.normal.f64 p, %1; selp.u32 %0, 1, 0, p; }")
UNARY(testp_subnormal, float, uint32_t, "bits", is_subnormal(a))
UNARY(testp_normal, double, uint32_t, "bits", is_normal(a))
// A sum whose order is the program's.
KERNEL(dot_f32, float, "bits", 1, 64, 64) {
    float sum = 0;
    for (int k = 0; k < 100; k++) sum += (threadIdx.x + 1) * 0.1f * (k - 49.3f);
    out[threadIdx.x] = sum;
}
