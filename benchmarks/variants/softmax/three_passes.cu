// A block of 256 for each row, which it reads three times.
#include <cmath>
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

__device__ float all_max(float value) {
    __shared__ float parts[kThreads];
    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    return parts[0];
}

__global__ void softmax(const float* x, float* out, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;
    float highest = -INFINITY, sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) highest = fmaxf(highest, row[i]);
    highest = all_max(highest);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(row[i] - highest);
    sum = all_sum(sum);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) result[i] = expf(row[i] - highest) / sum;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<static_cast<unsigned>(rows), kThreads>>>(x, out, cols);
}
