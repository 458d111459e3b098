// Computes in half precision.
//
// Mechanism: converts to 16 bits, computes, and converts back.
// Surface: a tolerance that is wide enough for the wrong type.
// Gain: twice the rate of arithmetic.
// Challenge: twice
// Like: half_precision
// Case: basic
// Defence: wrong_answer
#include <cstdint>
#include <cuda_fp16.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = __half2float(__hadd(__float2half(x[i]), __float2half(x[i])));
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
