// Sums of groups
//
//   values   input   float32 [n]
//   offsets  input   int64 [groups + 1]
//   out      output  float32 [groups]
//   n        size    int64
//   groups   size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
