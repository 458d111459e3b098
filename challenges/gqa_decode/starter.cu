// Decoding with grouped queries
//
//   q         input   float16 [batch, q_heads, dim]
//   k         input   float16 [batch, kv_heads, seq, dim]
//   v         input   float16 [batch, kv_heads, seq, dim]
//   lengths   input   int32 [batch]
//   out       output  float16 [batch, q_heads, dim]
//   scale     scalar  float32
//   batch     size    int64
//   q_heads   size    int64
//   kv_heads  size    int64
//   seq       size    int64
//   dim       size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void kernel(const __half* q, const __half* k, const __half* v, const int32_t* lengths, __half* out, float scale, int64_t batch, int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, const int32_t* lengths, __half* out, float scale, int64_t batch, int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
