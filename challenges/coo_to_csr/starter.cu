// Row offsets of a sparse matrix (COO to CSR)
//
//   row      input   int32 [nnz]
//   row_ptr  output  int32 [rows + 1]
//   rows     size    int64
//   nnz      size    int64
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void kernel(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

extern "C" void solve(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
