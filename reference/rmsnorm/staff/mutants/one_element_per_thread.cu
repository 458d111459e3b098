// Mistake: a thread per column and no loop: columns beyond the 256 threads of the block are neither counted nor written.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    __shared__ float parts[kThreads];
    const float* row = x + blockIdx.x * cols;
    float squares = 0.0f;
    if (const int64_t i = threadIdx.x; i < cols) squares += row[i] * row[i];
    parts[threadIdx.x] = squares;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    const float factor = rsqrtf(parts[0] / cols + eps);
    if (const int64_t i = threadIdx.x; i < cols) out[blockIdx.x * cols + i] = row[i] * factor * gamma[i];
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    rmsnorm<<<static_cast<unsigned>(rows), kThreads>>>(x, gamma, out, eps, cols);
}
