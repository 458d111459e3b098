// Run-length encoding
//
//   x        input   int32 [n]
//   values   output  int32 [n]
//   lengths  output  int32 [n]
//   count    output  int64 [1]
//   n        size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
