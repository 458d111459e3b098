// Mistake: the mean is not subtracted before squaring, so the variance is the mean square.
// Says: (mean|variance|deviation)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void ln(const float* x, const float* g, const float* b, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double mean = 0, var = 0;
    for (int64_t c = 0; c < cols; c++) {
        mean += x[r * cols + c];
        var += (double)x[r * cols + c] * x[r * cols + c]; // HERE
    }
    mean /= cols;
    var /= cols; // HERE
    double rstd = rsqrt(var + eps);
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = (x[r * cols + c] - mean) * rstd * g[c] + b[c];
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows) ln<<<(rows + 31) / 32, 32>>>(x, gamma, beta, out, eps, rows, cols);
}
