// Mistake: no maximum is subtracted before the exponential.
// Says: exponential ; (subtract) ; maximum
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void log_softmax(const float* x, float* out, int64_t cols) {
    __shared__ float parts[kThreads];
    const float* row = x + blockIdx.x * cols;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(row[i]);
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    const float logarithm = logf(parts[0]);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) out[blockIdx.x * cols + i] = row[i] - logarithm;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) log_softmax<<<static_cast<unsigned>(rows), kThreads>>>(x, out, cols);
}
