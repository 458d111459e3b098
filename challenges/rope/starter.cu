// Rotary position embedding
//
//   x      input   float32 [heads, seq, dim]
//   cos    input   float32 [seq, dim // 2]
//   sin    input   float32 [seq, dim // 2]
//   out    output  float32 [heads, seq, dim]
//   heads  size    int64
//   seq    size    int64
//   dim    size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* x, const float* cos, const float* sin, float* out, int64_t heads, int64_t seq, int64_t dim) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* x, const float* cos, const float* sin, float* out, int64_t heads, int64_t seq, int64_t dim) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
