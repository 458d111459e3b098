// Max pooling in two dimensions
//
//   x      input   float32 [h, width]
//   out    output  float32 [max(h - k + s, 0) // s, max(width - k + s, 0) // s]
//   h      size    int64
//   width  size    int64
//   k      size    int64
//   s      size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* out, int64_t h, int64_t width, int64_t k, int64_t s) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* x, float* out, int64_t h, int64_t width, int64_t k, int64_t s) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
