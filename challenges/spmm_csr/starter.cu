// Sparse matrix times dense matrix (CSR)
//
//   row_ptr  input   int64 [rows + 1]
//   col      input   int64 [nnz]
//   val      input   float32 [nnz]
//   b        input   float32 [cols, n]
//   out      output  float32 [rows, n]
//   rows     size    int64
//   cols     size    int64
//   nnz      size    int64
//   n        size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const int64_t* row_ptr, const int64_t* col, const float* val, const float* b, float* out, int64_t rows, int64_t cols, int64_t nnz, int64_t n) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* b, float* out, int64_t rows, int64_t cols, int64_t nnz, int64_t n) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
