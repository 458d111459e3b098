// Grouped matrix products of experts
//
//   x        input   float16 [tokens, k]
//   w        input   float16 [experts, k, n]
//   offsets  input   int64 [experts + 1]
//   out      output  float16 [tokens, n]
//   tokens   size    int64
//   experts  size    int64
//   k        size    int64
//   n        size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void kernel(const __half* x, const __half* w, const int64_t* offsets, __half* out, int64_t tokens, int64_t experts, int64_t k, int64_t n) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const __half* x, const __half* w, const int64_t* offsets, __half* out, int64_t tokens, int64_t experts, int64_t k, int64_t n) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
