// Mistake: only thread 0 reads the sum and makes the factor of it, in a variable of its own: the other threads multiply by
// the 0 that they started with. What one thread finds out reaches the others through shared memory alone.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    __shared__ float parts[kThreads];
    const float* row = x + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) squares += row[i] * row[i];
    parts[threadIdx.x] = squares;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    float factor = 0.0f;
    if (threadIdx.x == 0) factor = rsqrtf(parts[0] / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) out[blockIdx.x * cols + i] = row[i] * factor * gamma[i];
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    rmsnorm<<<static_cast<unsigned>(rows), kThreads>>>(x, gamma, out, eps, cols);
}
