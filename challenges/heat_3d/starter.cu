// Heat in three dimensions
//
//   grid     input      float32 [depth, height, width]
//   out      output     float32 [depth, height, width]
//   scratch  workspace  float32 [depth, height, width]
//   alpha    scalar     float32
//   steps    scalar     int32
//   depth    size       int64
//   height   size       int64
//   width    size       int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* grid, float* out, float* scratch, float alpha, int32_t steps, int64_t depth, int64_t height, int64_t width) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* grid, float* out, float* scratch, float alpha, int32_t steps, int64_t depth, int64_t height, int64_t width) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
