// Mistake: takes the entry before from the lane before. The first lane of a warp has none, and takes its own.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void offsets(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int32_t here = i < nnz ? row[i] : static_cast<int32_t>(rows);
    int32_t before = __shfl_up_sync(0xffffffffu, here, 1);
    if (i == 0) before = -1;
    for (int64_t r = int64_t{before} + 1; r <= here; ++r) row_ptr[r] = static_cast<int32_t>(i);
}

extern "C" void solve(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    offsets<<<static_cast<unsigned>(nnz / 256 + 1), 256>>>(row, row_ptr, rows, nnz);
}
