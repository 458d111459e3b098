// Routing tokens to experts
//
//   logits   input   float32 [tokens, experts]
//   chosen   output  int32 [tokens, k]
//   weights  output  float32 [tokens, k]
//   counts   output  int32 [experts]
//   offsets  output  int64 [experts + 1]
//   order    output  int32 [tokens * k]
//   tokens   size    int64
//   experts  size    int64
//   k        size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* logits, int32_t* chosen, float* weights, int32_t* counts, int64_t* offsets, int32_t* order, int64_t tokens, int64_t experts, int64_t k) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* logits, int32_t* chosen, float* weights, int32_t* counts, int64_t* offsets, int32_t* order, int64_t tokens, int64_t experts, int64_t k) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
