// A block of 1024 for each row, which it reads three times.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 1024;

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

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += row[i];
    const float mean = all_sum(sum) / cols;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) squares += (row[i] - mean) * (row[i] - mean);
    const float deviation = sqrtf(all_sum(squares) / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads)
        result[i] = (row[i] - mean) / deviation * gamma[i] + beta[i];
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows,
                      int64_t cols) {
    if (rows && cols) layernorm<<<static_cast<unsigned>(rows), kThreads>>>(x, gamma, beta, out, eps, cols);
}
