// Option prices by Monte Carlo
//
//   spot        input   float32 [rows]
//   strike      input   float32 [rows]
//   volatility  input   float32 [rows]
//   time        input   float32 [rows]
//   out         output  float32 [rows]
//   rate        scalar  float32
//   seed        scalar  uint32
//   rows        size    int64
//   paths       size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* spot, const float* strike, const float* volatility, const float* time, float* out, float rate, uint32_t seed, int64_t rows, int64_t paths) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* spot, const float* strike, const float* volatility, const float* time, float* out, float rate, uint32_t seed, int64_t rows, int64_t paths) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
