// A thread for each entry finds its row by bisection and adds its product to the row's sum.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void multiply(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                         int64_t rows, int64_t nnz) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
    if (i >= nnz) return;
    int64_t low = 0, high = rows;  // row_ptr[low] <= i < row_ptr[high]
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (row_ptr[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    atomicAdd(&out[low], val[i] * x[col[i]]);
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                      int64_t rows, int64_t cols, int64_t nnz) {
    if (rows == 0) return;
    cudaMemsetAsync(out, 0, rows * sizeof(float), 0);
    if (nnz) multiply<<<static_cast<unsigned>((nnz + 255) / 256), 256>>>(row_ptr, col, val, x, out, rows, nnz);
}
