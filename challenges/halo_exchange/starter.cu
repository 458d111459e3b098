// Halo exchange between two GPUs
//
//   grid     input      float32 [height, width]  one on each of 2 GPUs
//   out      output     float32 [height, width]  one on each of 2 GPUs
//   scratch  workspace  float32 [height, width]  one on each of 2 GPUs
//   steps    scalar     int32
//   height   size       int64
//   width    size       int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* grid, float* out, float* scratch, int32_t steps, int64_t height, int64_t width, int64_t gpus) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* const* grid, float* const* out, float* const* scratch, int32_t steps, int64_t height, int64_t width, int64_t gpus) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
