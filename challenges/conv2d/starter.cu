// Convolution in two dimensions
//
//   x      input   float32 [h, width]
//   w      input   float32 [kh, kw]
//   out    output  float32 [max(h - kh + 1, 0), max(width - kw + 1, 0)]
//   h      size    int64
//   width  size    int64
//   kh     size    int64
//   kw     size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
