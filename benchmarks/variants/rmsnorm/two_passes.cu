// A block of 256 for each row, which it reads twice.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

// Over the block, for all of its threads.
__device__ float all_sum(float value) {
    __shared__ float parts[kThreads];
    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
}

__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) squares += row[i] * row[i];
    const float factor = 1.0f / sqrtf(all_sum(squares) / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) out[blockIdx.x * cols + i] = row[i] * factor * gamma[i];
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) rmsnorm<<<static_cast<unsigned>(rows), kThreads>>>(x, gamma, out, eps, cols);
}
