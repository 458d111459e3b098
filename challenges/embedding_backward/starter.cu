// Embedding, backward
//
//   grad     input   float32 [tokens, dim]
//   indices  input   int64 [tokens]
//   out      output  float32 [vocab, dim]
//   padding  scalar  int64
//   tokens   size    int64
//   dim      size    int64
//   vocab    size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const float* grad, const int64_t* indices, float* out, int64_t padding, int64_t tokens, int64_t dim, int64_t vocab) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const float* grad, const int64_t* indices, float* out, int64_t padding, int64_t tokens, int64_t dim, int64_t vocab) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
