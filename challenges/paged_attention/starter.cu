// Decoding with paged caches
//
//   q          input   float16 [sequences, q_heads, dim]
//   k_pages    input   float16 [pages, page_size, kv_heads, dim]
//   v_pages    input   float16 [pages, page_size, kv_heads, dim]
//   table      input   int32 [sequences, max_pages]
//   lengths    input   int32 [sequences]
//   out        output  float16 [sequences, q_heads, dim]
//   scale      scalar  float32
//   sequences  size    int64
//   q_heads    size    int64
//   kv_heads   size    int64
//   pages      size    int64
//   page_size  size    int64
//   max_pages  size    int64
//   dim        size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void kernel(const __half* q, const __half* k_pages, const __half* v_pages, const int32_t* table, const int32_t* lengths, __half* out, float scale, int64_t sequences, int64_t q_heads, int64_t kv_heads, int64_t pages, int64_t page_size, int64_t max_pages, int64_t dim) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const __half* q, const __half* k_pages, const __half* v_pages, const int32_t* table, const int32_t* lengths, __half* out, float scale, int64_t sequences, int64_t q_heads, int64_t kv_heads, int64_t pages, int64_t page_size, int64_t max_pages, int64_t dim) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
