// Mistake: the values count without their sign.
// Says: val ; (absolute|sign)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int64_t e = row_ptr[r]; e < row_ptr[r + 1]; e++) sum += fabsf(val[e]) * x[col[e]];
    out[r] = sum;
}
extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows, int64_t cols, int64_t nnz) {
    if (rows) f<<<(rows + 63) / 64, 64>>>(row_ptr, col, val, x, out, rows);
}
