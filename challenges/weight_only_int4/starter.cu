// int4 weights, float16 activations
//
//   x        input   float16 [m, 128 * groups]
//   weights  input   int4 [n, 128 * groups]
//   scales   input   float16 [n, groups]
//   zeros    input   int8 [n, groups]
//   out      output  float32 [m, n]
//   m        size    int64
//   n        size    int64
//   groups   size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void kernel(const __half* x, const uint8_t* weights, const __half* scales, const int8_t* zeros, float* out, int64_t m, int64_t n, int64_t groups) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const __half* x, const uint8_t* weights, const __half* scales, const int8_t* zeros, float* out, int64_t m, int64_t n, int64_t groups) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
