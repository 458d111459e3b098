// Mistake: the loop over a row's entries includes the first entry of the next row.
// Says: (past the end|one (entry|element|term) too many|lets .* through|first .* of the next)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void spmm(const int64_t* row_ptr, const int64_t* col, const float* val, const float* b, float* out,
                     int64_t rows, int64_t cols, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= rows * n) return;
    const int64_t row = i / n, column = i % n;
    float sum = 0.0f;
    for (int64_t e = row_ptr[row]; e <= row_ptr[row + 1]; ++e)
        sum += val[e] * b[col[e] * n + column]; // HERE
    out[row * n + column] = sum;
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* b, float* out,
                      int64_t rows, int64_t cols, int64_t nnz, int64_t n) {
    if (rows * n) spmm<<<static_cast<unsigned>((rows * n + 127) / 128), 128>>>(row_ptr, col, val, b, out, rows, cols, n);
}
