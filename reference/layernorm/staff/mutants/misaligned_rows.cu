// Mistake: reads every row as float4 with a loop for the tail, but rows begin at a multiple of 16 bytes only where cols
// is a multiple of four: elsewhere the load is a fault (misaligned address).
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ float block_sum(float value) {
    __shared__ float parts[kThreads / 32];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int i = 0; i < kThreads / 32; ++i) value += parts[i];
    return value;
}

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    const float4* quads = reinterpret_cast<const float4*>(row);
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols / 4; i += kThreads) {
        const float4 it = quads[i];
        sum += it.x + it.y + it.z + it.w;
    }
    for (int64_t i = cols / 4 * 4 + threadIdx.x; i < cols; i += kThreads) sum += row[i];
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
