// Mistake: a thread for each entry and none too many: threads behind the last entry read on.
// Says: (outside|beyond|past|behind|after)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void offsets(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t before = i > 0 ? row[i - 1] : -1; // HERE
    const int64_t here = i == nnz ? rows : row[i]; // HERE
    for (int64_t r = before + 1; r <= here; ++r) row_ptr[r] = static_cast<int32_t>(i);
}

extern "C" void solve(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    offsets<<<static_cast<unsigned>(nnz / 256 + 1), 256>>>(row, row_ptr, rows, nnz);
}
