// AdamW step
//
//   p             inout   float32 [n]
//   m             inout   float32 [n]
//   v             inout   float32 [n]
//   grad          input   float32 [n]
//   lr            scalar  float32
//   beta1         scalar  float32
//   beta2         scalar  float32
//   eps           scalar  float32
//   weight_decay  scalar  float32
//   bias1         scalar  float32
//   bias2         scalar  float32
//   n             size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(float* p, float* m, float* v, const float* grad, float lr, float beta1, float beta2, float eps, float weight_decay, float bias1, float bias2, int64_t n) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(float* p, float* m, float* v, const float* grad, float lr, float beta1, float beta2, float eps, float weight_decay, float bias1, float bias2, int64_t n) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
