// Mistake: b is read at the row of out, not at the entry's column.
// Says: (\bb\b|\bcol\b) ; (row|col)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void spmm(const int64_t* row_ptr, const int64_t* col, const float* val, const float* b, float* out,
                     int64_t rows, int64_t cols, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= rows * n) return;
    const int64_t row = i / n, column = i % n;
    float sum = 0.0f;
    for (int64_t e = row_ptr[row]; e < row_ptr[row + 1]; ++e)
        sum += val[e] * b[(row < cols ? row : cols - 1) * n + column];
    out[row * n + column] = sum;
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* b, float* out,
                      int64_t rows, int64_t cols, int64_t nnz, int64_t n) {
    if (rows * n) spmm<<<static_cast<unsigned>((rows * n + 127) / 128), 128>>>(row_ptr, col, val, b, out, rows, cols, n);
}
