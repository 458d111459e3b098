// A block of 256 for each row, which it reads three times: maximum, sum, result.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void log_softmax(const float* x, float* out, int64_t cols) {
    __shared__ float parts[kThreads];
    const float* row = x + blockIdx.x * cols;
    float highest = -INFINITY, sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) highest = fmaxf(highest, row[i]);
    parts[threadIdx.x] = highest;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    highest = parts[0];
    __syncthreads();
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(row[i] - highest);
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    const float logarithm = logf(parts[0]);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads)
        out[blockIdx.x * cols + i] = (row[i] - highest) - logarithm;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) log_softmax<<<static_cast<unsigned>(rows), kThreads>>>(x, out, cols);
}
