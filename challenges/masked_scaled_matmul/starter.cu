// Masked and scaled matrix product
//
//   a      input   float32 [m, k]
//   b      input   float32 [k, n]
//   mask   input   uint8 [m, n]
//   out    output  float32 [m, n]
//   scale  scalar  float32
//   m      size    int64
//   n      size    int64
//   k      size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
