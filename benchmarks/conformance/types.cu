// The other types of arguments: numbers of 4 bits, powers of two as scales, integers of 16 bits, bool, complex numbers. Compiled
// for sm_90, which converts numbers of 4 bits by other instructions.
#include "conformance.cuh"
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

using conformance::mixed;

// ---- float4_e2m1fn ----
UNARY(f32_to_e2m1, float, uint8_t, "bits", __nv_cvt_float_to_fp4(a, __NV_E2M1, cudaRoundNearest))
ELEMENTS(sweep_to_e2m1, uint8_t, "bits", 256, out[i] = __nv_cvt_float_to_fp4((i - 128) * 0.0625f, __NV_E2M1, cudaRoundNearest);)
ELEMENTS(pair_to_e2m1, uint8_t, "bits", 256, __nv_fp4x2_e2m1 it(make_float2((i - 99) * 0.071f, (i - 31) * 0.043f)); out[i] = it.__x;)
ELEMENTS(half_to_e2m1, uint8_t, "bits", 256, __half_raw raw; raw.x = static_cast<uint16_t>(mixed(i)); out[i] = __nv_cvt_halfraw_to_fp4(raw, __NV_E2M1, cudaRoundNearest);)
ELEMENTS(e2m1_to_halves, uint32_t, "bits", 256, __half2_raw raw = __nv_cvt_fp4x2_to_halfraw2(static_cast<uint8_t>(i), __NV_E2M1); out[i] = raw.x | raw.y << 16;)
ELEMENTS(e2m1_to_floats, float, "bits", 512, __nv_fp4x2_e2m1 it; it.__x = static_cast<uint8_t>(i / 2); float2 both = static_cast<float2>(it); out[i] = i % 2 ? both.y : both.x;)
// The low bits are the first number.
ELEMENTS(order_in_e2m1, float, "bits", 2, __nv_fp4x2_e2m1 it; it.__x = 0x72; float2 both = static_cast<float2>(it); out[i] = i % 2 ? both.y : both.x;)
// ---- int4 ----
ELEMENTS(int4_to_int, int32_t, "bits", 512, out[i] = static_cast<int8_t>((i / 2 >> i % 2 * 4) << 4) >> 4;)
// ---- float8_e8m0fnu ----
UNARY(f32_to_e8m0_up, float, uint8_t, "bits", __nv_cvt_float_to_e8m0(a, __NV_SATFINITE, cudaRoundPosInf))
UNARY(f32_to_e8m0_down, float, uint8_t, "bits", __nv_cvt_float_to_e8m0(a, __NV_SATFINITE, cudaRoundZero))
UNARY(f64_to_e8m0, double, uint8_t, "bits", __nv_cvt_double_to_e8m0(a, __NV_SATFINITE, cudaRoundPosInf))
ELEMENTS(e8m0_to_float, float, "bits", 256, __nv_fp8_e8m0 it; it.__x = static_cast<__nv_fp8_storage_t>(i); out[i] = static_cast<float>(it);)
ELEMENTS(e8m0_to_bf16, uint16_t, "bits", 256, __nv_bfloat16_raw raw = __nv_cvt_e8m0_to_bf16raw(static_cast<uint8_t>(i)); out[i] = (raw.x & 0x7fff) > 0x7f80 ? 0x7fff : raw.x;)
// ---- a block of MX: 32 products, and both scales ----
template <typename T> static __device__ T of_bits(int bits) { T made; made.__x = static_cast<decltype(made.__x)>(bits); return made; }
template <typename T> static __device__ float block_of(int i) {
    float sum = 0;
    for (int at = 0; at < 32; ++at) {
        sum += static_cast<float>(of_bits<T>(mixed(64 * i + at) & 0x77)) * static_cast<float>(of_bits<T>(mixed(64 * i + at + 32) & 0xf7));
    }
    return sum * static_cast<float>(of_bits<__nv_fp8_e8m0>(120 + mixed(i) % 14)) * static_cast<float>(of_bits<__nv_fp8_e8m0>(120 + mixed(i + 999) % 14));
}
ELEMENTS(block_of_e4m3, float, "bits", 128, out[i] = block_of<__nv_fp8_e4m3>(i);)
ELEMENTS(block_of_e5m2, float, "bits", 128, out[i] = block_of<__nv_fp8_e5m2>(i);)
ELEMENTS(block_of_e2m1, float, "bits", 128, float sum = 0; for (int at = 0; at < 32; ++at) {
    float2 x = static_cast<float2>(of_bits<__nv_fp4x2_e2m1>(mixed(64 * i + at) & 0xff)), y = static_cast<float2>(of_bits<__nv_fp4x2_e2m1>(mixed(64 * i + at + 32) & 0xff));
    sum += x.x * y.x + x.y * y.y; } out[i] = sum * static_cast<float>(of_bits<__nv_fp8_e4m3>(mixed(i) & 0x7b));)
// ---- integers of 16 bits and unsigned ones ----
BINARY(sum_of_u16, uint16_t, uint16_t, "bits", static_cast<uint16_t>(a + b))
BINARY(product_of_u16, uint16_t, uint16_t, "bits", static_cast<uint16_t>(static_cast<uint32_t>(a) * b))
BINARY(quotient_of_i16, int16_t, int16_t, "bits", static_cast<int16_t>(a / (b ? b : 1)))
UNARY(u16_to_float, uint16_t, float, "bits", static_cast<float>(a))
UNARY(u32_to_float, uint32_t, float, "bits", static_cast<float>(a))
UNARY(u64_to_float, uint64_t, float, "bits", static_cast<float>(a))
UNARY(u64_to_double, uint64_t, double, "bits", static_cast<double>(a))
BINARY(quotient_of_u64, uint64_t, uint64_t, "bits", a / (b ? b : 1))
// ---- bool ----
static __device__ bool flags[256];
KERNEL(bools, uint8_t, "bits", 1, 256, 256) {
    const int i = threadIdx.x;
    flags[i] = mixed(i) % 3 == 0;
    __syncthreads();
    const bool both = flags[i] && flags[255 - i], one = flags[i] != flags[(i + 1) % 256];
    reinterpret_cast<bool*>(out)[i] = both || (one && !flags[i / 2]);
}
UNARY(float_to_bool, float, uint8_t, "bits", static_cast<bool>(a))
// ---- complex64 ----
static __device__ float2 complex_of(int i) { return make_float2((mixed(i) % 4001) / 1000.0f - 2, (mixed(i + 7) % 4001) / 1000.0f - 2); }
#define COMPLEX(name, rule, ...) \
    ELEMENTS(name, float, rule, 512, float2 a = complex_of(i / 2); float2 b = complex_of(i / 2 + 5000); float2 c = (__VA_ARGS__); out[i] = i % 2 ? c.y : c.x;)
COMPLEX(complex_sum, "bits", cuCaddf(a, b))
// Not cuComplex.h's: which of its products are fused is the compiler's choice.
static __device__ float2 product(float2 a, float2 b) {
    return make_float2(__fmaf_rn(a.x, b.x, -__fmul_rn(a.y, b.y)), __fmaf_rn(a.x, b.y, __fmul_rn(a.y, b.x)));
}
static __device__ float2 quotient(float2 a, float2 b) {
    float size = __fmaf_rn(b.x, b.x, __fmul_rn(b.y, b.y));
    float2 top = product(a, make_float2(b.x, -b.y));
    return make_float2(__fdiv_rn(top.x, size), __fdiv_rn(top.y, size));
}
COMPLEX(complex_product, "bits", product(a, b))
COMPLEX(complex_sum_of_product, "bits", cuCaddf(product(a, b), a))
COMPLEX(complex_quotient, "bits", quotient(a, b))
ELEMENTS(complex_size, float, "ulp 2", 256, out[i] = cuCabsf(complex_of(i));)
static __device__ float2 numbers[128];
// Loads and stores of both parts at once.
KERNEL(complex_turned, float, "bits", 1, 128, 256) {
    numbers[threadIdx.x] = complex_of(threadIdx.x);
    __syncthreads();
    const float2 it = numbers[127 - threadIdx.x];
    reinterpret_cast<float2*>(out)[threadIdx.x] = make_float2(-it.y, it.x);
}
