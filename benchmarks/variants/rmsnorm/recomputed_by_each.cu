// Each thread of a row's block sums a quarter of the row by itself, and all the sums are the same four: wasted work.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    __shared__ float quarters[4];
    const float* row = x + blockIdx.x * cols;
    const int warp = threadIdx.x / 32;
    float squares = 0.0f;
    for (int64_t i = warp; i < cols; i += 4) squares += row[i] * row[i];
    if (threadIdx.x % 32 == 0) quarters[warp] = squares;
    __syncthreads();
    const float factor = 1.0f / sqrtf((quarters[0] + quarters[1] + quarters[2] + quarters[3]) / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) out[blockIdx.x * cols + i] = row[i] * factor * gamma[i];
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) rmsnorm<<<static_cast<unsigned>(rows), kThreads>>>(x, gamma, out, eps, cols);
}
