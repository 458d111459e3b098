// Convolution in one dimension
//
//   x    input   float32 [n]
//   w    input   float32 [k]
//   out  output  float32 [max(n - k + 1, 0)]
//   n    size    int64
//   k    size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
