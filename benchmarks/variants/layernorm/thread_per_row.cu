// A thread for each row: a warp's accesses lie a row apart.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows,
                          int64_t cols) {
    const int64_t r = static_cast<int64_t>(blockIdx.x) * 64 + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + r * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t i = 0; i < cols; ++i) sum += row[i];
    const float mean = sum / cols;
    for (int64_t i = 0; i < cols; ++i) squares += (row[i] - mean) * (row[i] - mean);
    const float deviation = sqrtf(squares / cols + eps);
    for (int64_t i = 0; i < cols; ++i) out[r * cols + i] = (row[i] - mean) / deviation * gamma[i] + beta[i];
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows,
                      int64_t cols) {
    if (rows && cols)
        layernorm<<<static_cast<unsigned>((rows + 63) / 64), 64>>>(x, gamma, beta, out, eps, rows, cols);
}
