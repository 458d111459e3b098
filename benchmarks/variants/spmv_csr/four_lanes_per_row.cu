// Four lanes for each row.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kLanes = 4, kRows = 256 / kLanes;

__global__ void multiply(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                         int64_t rows) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kRows + threadIdx.x / kLanes;
    float sum = 0.0f;
    if (row < rows)
        for (int64_t i = row_ptr[row] + threadIdx.x % kLanes; i < row_ptr[row + 1]; i += kLanes) sum += val[i] * x[col[i]];
    for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step, kLanes);
    if (row < rows && threadIdx.x % kLanes == 0) out[row] = sum;
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                      int64_t rows, int64_t cols, int64_t nnz) {
    if (rows) multiply<<<static_cast<unsigned>((rows + kRows - 1) / kRows), 256>>>(row_ptr, col, val, x, out, rows);
}
