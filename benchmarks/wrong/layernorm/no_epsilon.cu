// Mistake: eps is not added to the variance.
// Says: eps
#include <cuda_runtime.h>
#include <cstdint>

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double mean = 0, var = 0;
    for (int64_t c = 0; c < cols; c++) mean += x[r * cols + c];
    mean /= cols;
    for (int64_t c = 0; c < cols; c++) {
        double d = x[r * cols + c] - mean;
        var += d * d;
    }
    double std = sqrt(var / cols);
    for (int64_t c = 0; c < cols; c++)
        out[r * cols + c] = (x[r * cols + c] - mean) / std * gamma[c] + beta[c];
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows > 0) layernorm<<<(rows + 31) / 32, 32>>>(x, gamma, beta, out, eps, rows, cols);
}
