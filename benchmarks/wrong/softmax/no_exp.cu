// Mistake: the shifted values are divided by their sum, without exp.
// Says: exp ; (without|in place|missing|not)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;

    float top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < cols; c++) top = fmaxf(top, x[r * cols + c]);
    for (int64_t c = 0; c < cols; c++) sum += x[r * cols + c] - top;
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = (x[r * cols + c] - top) / sum;
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows) f<<<(rows + 31) / 32, 32>>>(x, out, rows, cols);
}
