// Breadth-first search
//
//   row_ptr  input   int32 [n + 1]
//   col      input   int32 [m]
//   level    output  int32 [n]
//   n        size    int64
//   m        size    int64
//   source   size    int64
//   depth    size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const int32_t* row_ptr, const int32_t* col, int32_t* level, int64_t n, int64_t m, int64_t source, int64_t depth) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const int32_t* row_ptr, const int32_t* col, int32_t* level, int64_t n, int64_t m, int64_t source, int64_t depth) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
