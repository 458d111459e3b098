// Products of 32 bits.
#include <cstdint>
#include <cuda_runtime.h>

// One warp takes a row.
__global__ void each(const float* x, const float* gamma, const float* beta, float* out, float eps, int rows, int cols) {
    const int row = blockIdx.x, lane = threadIdx.x;
    float sum = 0.0f, squares = 0.0f;
    for (int c = lane; c < cols; c += 32) sum += x[row * cols + c];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    const float mean = sum / cols;
    for (int c = lane; c < cols; c += 32) {
        const float value = x[row * cols + c] - mean;
        squares += value * value;
    }
    for (int step = 16; step; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
    const float scale = 1.0f / sqrtf(squares / cols + eps);
    for (int c = lane; c < cols; c += 32) out[row * cols + c] = (x[row * cols + c] - mean) * scale * gamma[c] + beta[c];
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows > 0 && cols > 0) each<<<rows, 32>>>(x, gamma, beta, out, eps, rows, cols);
}
