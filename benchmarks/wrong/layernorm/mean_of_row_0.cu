// Mistake: every row subtracts the mean of row 0.
// Says: mean ; (row 0|first)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const float* x, const float* g, const float* b, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;

    double mean = 0, own = 0, var = 0;
    for (int64_t c = 0; c < cols; c++) mean += x[c];
    for (int64_t c = 0; c < cols; c++) own += x[r * cols + c];
    mean /= cols;
    own /= cols;
    for (int64_t c = 0; c < cols; c++) var += (x[r * cols + c] - own) * (x[r * cols + c] - own);
    double rstd = rsqrt(var / cols + eps);
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = (x[r * cols + c] - mean) * rstd * g[c] + b[c];
}
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows) f<<<(rows + 31) / 32, 32>>>(x, gamma, beta, out, eps, rows, cols);
}
