// Top k by rows
//
//   x        input   float32 [rows, cols]
//   values   output  float32 [rows, k]
//   indices  output  int32 [rows, k]
//   rows     size    int64
//   cols     size    int64
//   k        size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols, int64_t k) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols, int64_t k) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
