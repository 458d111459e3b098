// Mistake: adds up within each warp and takes that for the sum of the block, which has eight warps.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ float block_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    return value;
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += row[i];
    const float mean = block_sum(sum) / cols;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) squares += (row[i] - mean) * (row[i] - mean);
    const float rstd = rsqrtf(block_sum(squares) / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads)
        out[blockIdx.x * cols + i] = (row[i] - mean) * rstd * gamma[i] + beta[i];
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows,
                      int64_t cols) {
    if (rows == 0 || cols == 0) return;
    layernorm<<<static_cast<unsigned>(rows), kThreads>>>(x, gamma, beta, out, eps, cols);
}
