// Compiled with -use_fast_math: functions become intrinsics, float is flushed, division and root are approximate.
#include "conformance.cuh"

// The sweep divides by 255, approximately: what a sine or a cosine is of may be 2 ulp off, here 2^-20 at most.
SWEEP(fast_sin, float, "absolute 0x1.61p-20", -3.1415926f, 3.1415926f, sinf(a))
SWEEP(fast_cos, float, "absolute 0x1.71p-20", -3.1415926f, 3.1415926f, cosf(a))
SWEEP(fast_exp, float, "ulp 104", -87.0f, 87.0f, expf(a))
SWEEP(fast_log, float, "ulp 3", 2.0f, 1e6f, logf(a))
SWEEP(fast_divide, float, "ulp 2", 1.5f, 1e6f, a / (3.7f * i + 1))
SWEEP(fast_sqrt, float, "relative 0x1p-23 ulp 2", 0.5f, 1e6f, sqrtf(a))
SWEEP(fast_rsqrt, float, "relative 0x1.12p-23 ulp 2", 0.5f, 1e6f, 1.0f / sqrtf(a))
SWEEP(fast_tanh, float, "relative 0x1p-10", -4.0f, 4.0f, tanhf(a))
SWEEP(fast_sigmoid, float, "relative 0x1p-20", -8.0f, 8.0f, 1.0f / (1.0f + expf(-a)))
BINARY(fast_add, float, float, "bits", a + b)
