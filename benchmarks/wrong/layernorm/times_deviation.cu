// Mistake: the deviations are multiplied by the standard deviation, not divided by it.
// Says: (multipl|divid|root|sqrt|reciprocal|rsqrt|1 /) ; (deviation|variance|root|sqrt|rsqrt)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void ln(const float* x, const float* g, const float* b, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double mean = 0, var = 0;
    for (int64_t c = 0; c < cols; c++) mean += x[r * cols + c];
    mean /= cols;
    for (int64_t c = 0; c < cols; c++) var += (x[r * cols + c] - mean) * (x[r * cols + c] - mean);
    double deviation = sqrt(var / cols + eps);
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = (x[r * cols + c] - mean) * deviation * g[c] + b[c];
}
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows) ln<<<(rows + 31) / 32, 32>>>(x, gamma, beta, out, eps, rows, cols);
}
