#include <cstdint>
__global__ void normalise(const float* x, const float* gamma, const float* beta, float* out, float eps, int cols) {
    const float* row = x + (int64_t)blockIdx.x * cols;
    const float share = 1 / cols;
    float mean = 0, variance = 0;
    for (int i = 0; i < cols; i++) mean += row[i];
    mean *= share;
    for (int i = 0; i < cols; i++) variance += (row[i] - mean) * (row[i] - mean);
    const float scale = rsqrtf(variance / cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[(int64_t)blockIdx.x * cols + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) normalise<<<rows, 32>>>(x, gamma, beta, out, eps, cols);
}
