// Mistake: offsets of empty rows are never written.
// Says: never written
#include <cstdint>
#include <cuda_runtime.h>

__global__ void offsets(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i > nnz) return;
    const int64_t before = i > 0 ? row[i - 1] : -1;
    const int64_t here = i < nnz ? row[i] : rows;
    if (before != here) row_ptr[here] = static_cast<int32_t>(i);
}

extern "C" void solve(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    offsets<<<static_cast<unsigned>(nnz / 256 + 1), 256>>>(row, row_ptr, rows, nnz);
}
