// Instructions that end in .approx, and the intrinsics that are made of them. Bounds: PTX ISA, "Floating Point Instructions";
// CUDA C++ Programming Guide, "Intrinsic Functions". Where a bound is of the exact result, the emulated GPU's own half ulp
// comes on top, so a bound in ulp is rounded up.
#include "conformance.cuh"

PTX1(rcp_of, float, "f", float, "f", "rcp.approx.f32 %0, %1;")
PTX1(rcp_ftz_of, float, "f", float, "f", "rcp.approx.ftz.f32 %0, %1;")
PTX1(sqrt_of, float, "f", float, "f", "sqrt.approx.f32 %0, %1;")
PTX1(sqrt_ftz_of, float, "f", float, "f", "sqrt.approx.ftz.f32 %0, %1;")
PTX1(rsqrt_of, float, "f", float, "f", "rsqrt.approx.f32 %0, %1;")
PTX1(sin_of, float, "f", float, "f", "sin.approx.f32 %0, %1;")
PTX1(cos_of, float, "f", float, "f", "cos.approx.f32 %0, %1;")
PTX1(lg2_of, float, "f", float, "f", "lg2.approx.f32 %0, %1;")
PTX1(lg2_ftz_of, float, "f", float, "f", "lg2.approx.ftz.f32 %0, %1;")
PTX1(ex2_of, float, "f", float, "f", "ex2.approx.f32 %0, %1;")
PTX1(ex2_ftz_of, float, "f", float, "f", "ex2.approx.ftz.f32 %0, %1;")
PTX1(tanh_of, float, "f", float, "f", "tanh.approx.f32 %0, %1;")
PTX2(div_of, float, "f", float, "f", float, "f", "div.approx.f32 %0, %1, %2;")
PTX2(div_full_of, float, "f", float, "f", float, "f", "div.full.f32 %0, %1, %2;")
PTX1(rcp64_of, double, "d", double, "d", "rcp.approx.ftz.f64 %0, %1;")
PTX1(rsqrt64_of, double, "d", double, "d", "rsqrt.approx.ftz.f64 %0, %1;")
UNARY(rcp_approx, float, float, "ulp 1", rcp_of(a))
UNARY(rcp_approx_ftz, float, float, "ulp 1", rcp_ftz_of(a))
UNARY(sqrt_approx, float, float, "relative 0x1p-23 ulp 2", sqrt_of(a))
UNARY(sqrt_approx_ftz, float, float, "relative 0x1p-23 ulp 2", sqrt_ftz_of(a))
UNARY(rsqrt_approx, float, float, "relative 0x1.12p-23 ulp 2", rsqrt_of(a))
SWEEP(sin_approx, float, "absolute 0x1.7p-21", -6.2831853f, 6.2831853f, sin_of(a))
SWEEP(cos_approx, float, "absolute 0x1.7p-21", -6.2831853f, 6.2831853f, cos_of(a))
KERNEL(sin_cos_edges, float, "bits", 1, 14, 14) {
    float special[7] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f};
    out[threadIdx.x] = threadIdx.x < 7 ? sin_of(special[threadIdx.x]) : cos_of(special[threadIdx.x - 7]);
}
UNARY(lg2_approx, float, float, "absolute 0x1p-22 relative 0x1.8p-22", lg2_of(a))
SWEEP(lg2_approx_near_1, float, "absolute 0x1p-22", 0.5f, 2.0f, lg2_of(a))
UNARY(lg2_approx_ftz, float, float, "absolute 0x1p-22 relative 0x1.8p-22", lg2_ftz_of(a))
SWEEP(ex2_approx, float, "ulp 2", -150.0f, 130.0f, ex2_of(a))
UNARY(ex2_approx_edges, float, float, "ulp 2", ex2_of(a))
SWEEP(ex2_approx_ftz, float, "ulp 2", -150.0f, 130.0f, ex2_ftz_of(a))
UNARY(tanh_approx, float, float, "relative 0x1p-11", tanh_of(a))
SWEEP(tanh_approx_middle, float, "relative 0x1p-11", -4.0f, 4.0f, tanh_of(a))
SWEEP(div_approx, float, "ulp 2", 1.5f, 1e6f, div_of(a, 3.7f * i + 1))
BINARY(div_full, float, float, "ulp 2", div_full_of(a, b))
// Of these PTX gives no bound but "gross"; 20 bits are what libdevice begins Newton's iteration with.
UNARY(rcp_approx_f64, double, double, "relative 0x1p-19", rcp64_of(a))
UNARY(rsqrt_approx_f64, double, double, "relative 0x1p-19", rsqrt64_of(a))
SWEEP(intrinsic_exp, float, "ulp 4", -1.5f, 1.5f, __expf(a))
SWEEP(intrinsic_exp_wide, float, "ulp 104", -87.0f, 87.0f, __expf(a))
SWEEP(intrinsic_exp10, float, "ulp 91", -30.0f, 30.0f, __exp10f(a))
SWEEP(intrinsic_log, float, "ulp 3", 2.0f, 1e6f, __logf(a))
SWEEP(intrinsic_log_near_1, float, "absolute 0x1.83p-22", 0.5f, 2.0f, __logf(a))
SWEEP(intrinsic_log2, float, "ulp 2", 2.0f, 1e6f, __log2f(a))
SWEEP(intrinsic_log10, float, "ulp 3", 2.0f, 1e6f, __log10f(a))
SWEEP(intrinsic_sin, float, "absolute 0x1.83p-22", -3.1415926f, 3.1415926f, __sinf(a))
SWEEP(intrinsic_cos, float, "absolute 0x1.c3p-22", -3.1415926f, 3.1415926f, __cosf(a))
// A product of the sine and the reciprocal of the cosine, as NVIDIA derives it: the errors of both, of numbers down to 0.1 and
// 0.17, and 1 ulp of the reciprocal.
SWEEP(intrinsic_tan, float, "relative 0x1.2p-18", 0.1f, 1.4f, __tanf(a))
// exp2f(y * __log2f(x)): the error of the logarithm, at most 2 ulp of 7.4, times 7.4 ln 2.
SWEEP(intrinsic_pow, float, "ulp 16", 1.0f, 5.0f, __powf(a, 3.2f))
SWEEP(intrinsic_divide, float, "ulp 2", 1.5f, 1e6f, __fdividef(a, 3.7f * i + 1))
SWEEP(intrinsic_rsqrt, float, "ulp 1", 0.5f, 1e6f, __frsqrt_rn(a))
