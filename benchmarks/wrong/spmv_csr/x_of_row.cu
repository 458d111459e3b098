// Mistake: x is indexed by the row, not by the entry's column.
// Says: (\bx\b|\bcol\b) ; (row|col)
#include <cstdint>
__global__ void spmv(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int64_t j = row_ptr[r]; j < row_ptr[r + 1]; j++) s += val[j] * x[r < cols ? r : cols - 1];
    out[r] = s;
}
extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows, int64_t cols, int64_t nnz) {
    if (rows) spmv<<<(rows + 127) / 128, 128>>>(row_ptr, col, val, x, out, rows, cols);
}
