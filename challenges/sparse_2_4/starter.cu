// 2:4 structured sparse matrix product
//
//   values  input   float16 [m, 16 * words]
//   places  input   uint8 [m, 4 * words]
//   b       input   float16 [32 * words, n]
//   out     output  float16 [m, n]
//   m       size    int64
//   n       size    int64
//   words   size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void kernel(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n, int64_t words) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n, int64_t words) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
