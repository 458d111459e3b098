// A warp for each row, and blocks of one warp.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += 32) squares += row[i] * row[i];
    for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
    const float factor = 1.0f / sqrtf(squares / cols + eps);
    for (int64_t i = threadIdx.x; i < cols; i += 32) out[blockIdx.x * cols + i] = row[i] * factor * gamma[i];
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) rmsnorm<<<static_cast<unsigned>(rows), 32>>>(x, gamma, out, eps, cols);
}
