// Mistake: each row is divided by the root of the row before it.
// Says: row ; (before|previous|other|i - 1)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const float* x, const float* g, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;

    double s = 0;
    int64_t other = r ? r - 1 : 0;
    for (int64_t c = 0; c < cols; c++) s += (double)x[other * cols + c] * x[other * cols + c];
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = x[r * cols + c] * rsqrt(s / cols + eps) * g[c];
}
extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows) f<<<(rows + 31) / 32, 32>>>(x, gamma, out, eps, rows, cols);
}
