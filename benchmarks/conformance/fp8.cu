// Numbers of 8 bits: __nv_fp8_e4m3 and __nv_fp8_e5m2, saturated and not. Compiled for sm_90, which has instructions for them.
#include "conformance.cuh"
#include <cuda_fp8.h>

using conformance::mixed;
#define CONVERTED(kind, KIND) \
    UNARY(f32_to_##kind, float, uint8_t, "bits", __nv_cvt_float_to_fp8(a, __NV_SATFINITE, KIND)) \
    UNARY(f32_to_##kind##_unsaturated, float, uint8_t, "bits", __nv_cvt_float_to_fp8(a, __NV_NOSAT, KIND)) \
    ELEMENTS(sweep_to_##kind, uint8_t, "bits", 256, out[i] = __nv_cvt_float_to_fp8((i - 128) * 3.9f, __NV_SATFINITE, KIND);) \
    ELEMENTS(small_to_##kind, uint8_t, "bits", 256, out[i] = __nv_cvt_float_to_fp8((i - 128) * 0.00017f, __NV_SATFINITE, KIND);) \
    ELEMENTS(kind##_to_half, uint16_t, "bits", 256, __half_raw raw = __nv_cvt_fp8_to_halfraw(static_cast<uint8_t>(i), KIND); \
             out[i] = (raw.x & 0x7fff) > 0x7c00 ? 0x7fff : raw.x;) \
    ELEMENTS(half_to_##kind, uint8_t, "bits", 256, __half_raw raw; raw.x = static_cast<uint16_t>(mixed(i)); out[i] = __nv_cvt_halfraw_to_fp8(raw, __NV_SATFINITE, KIND);) \
    ELEMENTS(pair_to_##kind, uint16_t, "bits", 256, out[i] = __nv_cvt_float2_to_fp8x2(make_float2((i - 99) * 1.7f, (i - 31) * 0.013f), __NV_SATFINITE, KIND);)
CONVERTED(e4m3, __NV_E4M3) CONVERTED(e5m2, __NV_E5M2)
ELEMENTS(e4m3_to_float, float, "bits", 256, __nv_fp8_e4m3 it; it.__x = static_cast<__nv_fp8_storage_t>(i); out[i] = static_cast<float>(it);)
ELEMENTS(e5m2_to_float, float, "bits", 256, __nv_fp8_e5m2 it; it.__x = static_cast<__nv_fp8_storage_t>(i); out[i] = static_cast<float>(it);)
