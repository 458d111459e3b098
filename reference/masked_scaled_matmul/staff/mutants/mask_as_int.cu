// Mistake: reads the mask as 32-bit numbers: four of its bytes at once, and beyond its end.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void masked_matmul(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m,
                              int64_t n, int64_t k) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    const int64_t row = i / n, column = i % n;
    float sum = 0.0f;
    for (int64_t p = 0; p < k; ++p) sum += a[row * k + p] * b[p * n + column];
    out[i] = reinterpret_cast<const int32_t*>(mask)[i] ? sum * scale : 0.0f;
}

extern "C" void solve(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n,
                      int64_t k) {
    if (m == 0 || n == 0) return;
    masked_matmul<<<static_cast<unsigned>((m * n + 255) / 256), 256>>>(a, b, mask, out, scale, m, n, k);
}
