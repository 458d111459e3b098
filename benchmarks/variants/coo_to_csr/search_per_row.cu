// A binary search for each row: about 30 loads that wait for each other.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void offsets(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    const int64_t r = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (r > rows) return;
    int64_t low = 0, high = nnz;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (row[middle] < r) low = middle + 1;
        else high = middle;
    }
    row_ptr[r] = static_cast<int32_t>(low);
}

extern "C" void solve(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    offsets<<<static_cast<unsigned>(rows / 256 + 1), 256>>>(row, row_ptr, rows, nnz);
}
