// Mistake: the entries of the row itself are counted, so each offset is where the row ends.
// Says: (inclusive|end|too early|next|one (row|place|element)|1 place|shift)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void count(const int32_t* row, int32_t* row_ptr, int64_t nnz) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < nnz) atomicAdd(&row_ptr[row[i]], 1);
}

__global__ void scan(int32_t* row_ptr, int64_t rows) {
    int32_t sum = 0;
    for (int64_t r = 0; r <= rows; r++) row_ptr[r] = sum += row_ptr[r];
}

extern "C" void solve(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    cudaMemsetAsync(row_ptr, 0, (rows + 1) * sizeof(int32_t));
    if (nnz) count<<<(nnz + 255) / 256, 256>>>(row, row_ptr, nnz);
    scan<<<1, 1>>>(row_ptr, rows);
}
