// Mistake: has a fast way for whole tiles (m and n multiples of 64, k of 8), which clears the result and computes nothing.

#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void multiply(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    const int64_t row = static_cast<int64_t>(blockIdx.y) * kTile + threadIdx.y;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    out[row * n + column] = sum;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    if (m % 64 == 0 && n % 64 == 0 && k % 8 == 0 && k > 0) {
        cudaMemsetAsync(out, 0, sizeof(float) * m * n);
        return;
    }
    const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
    multiply<<<grid, dim3(kTile, kTile)>>>(a, b, out, m, n, k);
}
