// __half, __half2, __nv_bfloat16 and __nv_bfloat162. Results are the bits of each number.
#include "conformance.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace conformance {
struct f16 { __half it; };
struct bf16 { __nv_bfloat16 it; };
template <> const char* type_name<f16>() { return "f2"; }
template <> const char* type_name<bf16>() { return "bf"; }
__device__ uint16_t edges_f16[EDGES] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x8203, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x3800, 0x4100, 0xc300, 0x6800, 0x2e66, 0x5bff, 0xd401};
__device__ uint16_t edges_bf16[EDGES] = {0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 1, 0x8021, 0x7f, 0x80, 0x7f7f, 0xff7f, 0x3f00, 0x4020, 0xc060, 0x4b80, 0x3dcd, 0x437f, 0xc481};
template <> struct Source<__half> { static __device__ __half at(int i) { return __ushort_as_half(i < EDGES ? edges_f16[i] : static_cast<uint16_t>(mixed(i))); } };
template <> struct Source<__nv_bfloat16> { static __device__ __nv_bfloat16 at(int i) { return __ushort_as_bfloat16(i < EDGES ? edges_bf16[i] : static_cast<uint16_t>(mixed(i))); } };
}  // namespace conformance
using conformance::bf16;
using conformance::f16;

static __device__ uint32_t word(__half2 it) { return *reinterpret_cast<uint32_t*>(&it); }
static __device__ __half folded(__half2 it) { return __hadd(__low2half(it), __hmul(__high2half(it), __float2half(0.5f))); }
#define BOTH(op, ...) \
    BINARY(op##_f16, __half, f16, "bits", f16{__VA_ARGS__}) BINARY(op##_bf16, __nv_bfloat16, bf16, "bits", bf16{__VA_ARGS__})
BOTH(add, __hadd(a, b)) BOTH(sub, __hsub(a, b)) BOTH(mul, __hmul(a, b)) BOTH(div, __hdiv(a, b)) BOTH(min, __hmin(a, b)) BOTH(max, __hmax(a, b))
BOTH(min_nan, __hmin_nan(a, b)) BOTH(max_nan, __hmax_nan(a, b))
BINARY(add_sat_f16, __half, f16, "bits", f16{__hadd_sat(a, b)})
BINARY(mul_sat_f16, __half, f16, "bits", f16{__hmul_sat(a, b)})
TERNARY(fma_f16, __half, f16, "bits", f16{__hfma(a, b, c)})
TERNARY(fma_bf16, __nv_bfloat16, bf16, "bits", bf16{__hfma(a, b, c)})
TERNARY(fma_relu_f16, __half, f16, "bits", f16{__hfma_relu(a, b, c)})
TERNARY(fma_relu_bf16, __nv_bfloat16, bf16, "bits", bf16{__hfma_relu(a, b, c)})
UNARY(neg_abs_f16, __half, f16, "bits", f16{__hneg(__habs(a))})
UNARY(neg_abs_bf16, __nv_bfloat16, bf16, "bits", bf16{__hneg(__habs(a))})
BINARY(compare_f16, __half, uint32_t, "bits", __hlt(a, b) + 2 * __hle(a, b) + 4 * __heq(a, b) + 8 * __hne(a, b) + 16 * __hltu(a, b) + 32 * __hgeu(a, b) + 64 * __hequ(a, b))
BINARY(compare_bf16, __nv_bfloat16, uint32_t, "bits", __hlt(a, b) + 2 * __hle(a, b) + 4 * __heq(a, b) + 8 * __hne(a, b) + 16 * __hltu(a, b) + 32 * __hgeu(a, b) + 64 * __hequ(a, b))
BINARY(add_f16x2, __half, f16, "bits", f16{folded(__hadd2(__halves2half2(a, b), __halves2half2(b, __float2half(1.0f))))})
BINARY(mul_f16x2, __half, f16, "bits", f16{folded(__hmul2(__halves2half2(a, b), __halves2half2(b, a)))})
BINARY(compare_f16x2, __half, uint32_t, "bits", word(__hlt2(__halves2half2(a, b), __halves2half2(b, a))) ^ word(__heq2(__halves2half2(a, b), __halves2half2(b, b))))
TERNARY(fma_bf16x2, __nv_bfloat16, bf16, "bits", bf16{__low2bfloat16(__hfma2(__halves2bfloat162(a, b), __halves2bfloat162(b, c), __halves2bfloat162(c, a)))})
UNARY(half_to_f32, __half, float, "bits", __half2float(a))
UNARY(bf16_to_f32, __nv_bfloat16, float, "bits", __bfloat162float(a))
UNARY(f32_to_f16_rn, float, f16, "bits", f16{__float2half_rn(a)})
UNARY(f32_to_f16_rz, float, f16, "bits", f16{__float2half_rz(a)})
UNARY(f32_to_f16_ru, float, f16, "bits", f16{__float2half_ru(a)})
UNARY(f32_to_f16_rd, float, f16, "bits", f16{__float2half_rd(a)})
SWEEP(f32_to_f16_range, float, "bits", -70000.0f, 70000.0f, __half2float(__float2half_rn(a)) + 3 * __half2float(__float2half_rz(a)))
UNARY(f32_to_bf16_rn, float, bf16, "bits", bf16{__float2bfloat16_rn(a)})
UNARY(f32_to_bf16_rz, float, bf16, "bits", bf16{__float2bfloat16_rz(a)})
UNARY(f64_to_f16, double, f16, "bits", f16{__double2half(a)})
UNARY(f64_to_bf16, double, bf16, "bits", bf16{__double2bfloat16(a)})
UNARY(half_to_s32, __half, int32_t, "bits", __half2int_rn(a) + 3 * __half2int_rz(a) + 5 * __half2int_ru(a) + 7 * __half2int_rd(a))
UNARY(half_to_u16, __half, uint16_t, "bits", __half2ushort_rz(a))
UNARY(half_to_s64, __half, int64_t, "bits", __half2ll_rd(a))
UNARY(bf16_to_s32, __nv_bfloat16, int32_t, "bits", __bfloat162int_rz(a))
UNARY(s32_to_f16, int32_t, f16, "bits", f16{__int2half_rn(a)})
UNARY(u64_to_f16, uint64_t, f16, "bits", f16{__ull2half_rn(a)})
UNARY(s16_to_bf16, int16_t, bf16, "bits", bf16{__short2bfloat16_rn(a)})
BINARY(pack_f16x2, float, uint32_t, "bits", word(__floats2half2_rn(isnan(a) ? 0 : a, isnan(b) ? 0 : b)))
UNARY(round_f16, __half, f16, "bits", f16{__hadd(hrint(a), __hmul(hfloor(a), hceil(htrunc(a))))})
static __device__ __half of_bits(uint16_t it) { return __ushort_as_half(it); }
#define APPROXIMATE(name, text) static __device__ __half name(__half a) { uint16_t r; asm(text : "=h"(r) : "h"(__half_as_ushort(a))); return of_bits(r); }
APPROXIMATE(ex2_half, "ex2.approx.f16 %0, %1;")
APPROXIMATE(tanh_half, "tanh.approx.f16 %0, %1;")
// PTX ISA: ex2.approx.f16 within 2^-9.9 of the result; tanh.approx.f16 within 2^-10.987, absolute.
UNARY(ex2_approx_f16, __half, f16, "relative 0x1.12p-10 ulp 1", f16{ex2_half(a)})
UNARY(tanh_approx_f16, __half, f16, "absolute 0x1.03p-11 ulp 1", f16{tanh_half(a)})
// The library's functions of half round correctly in most cases (CUDA Math API: 1 ulp).
SWEEP(exp_f16, float, "relative 0x1p-10", -5.0f, 5.0f, __half2float(hexp(__float2half(a))))
SWEEP(log_f16, float, "relative 0x1p-10 absolute 0x1p-11", 0.1f, 100.0f, __half2float(hlog(__float2half(a))))
SWEEP(sin_f16, float, "absolute 0x1p-10", -3.0f, 3.0f, __half2float(hsin(__float2half(a))))
SWEEP(rsqrt_f16, float, "relative 0x1p-10", 0.1f, 100.0f, __half2float(hrsqrt(__float2half(a))))
SWEEP(exp_bf16, float, "relative 0x1p-7", -5.0f, 5.0f, __bfloat162float(hexp(__float2bfloat16(a))))
SWEEP(sqrt_bf16, float, "relative 0x1p-7", 0.1f, 100.0f, __bfloat162float(hsqrt(__float2bfloat16(a))))
