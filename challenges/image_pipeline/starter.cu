// Edges of an image
//
//   image   input   uint8 [height, width, 3]
//   edges   output  uint8 [height, width]
//   height  size    int64
//   width   size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const uint8_t* image, uint8_t* edges, int64_t height, int64_t width) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const uint8_t* image, uint8_t* edges, int64_t height, int64_t width) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
