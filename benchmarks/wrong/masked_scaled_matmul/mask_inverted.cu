// Mistake: the mask's meaning is inverted: elements that should be kept become 0 and the others are kept.
// Says: mask ; (invert|opposite|0|not)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void mm(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    int64_t c = (int64_t)blockIdx.x * 16 + threadIdx.x, r = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (r >= m || c >= n) return;
    double acc = 0;
    for (int64_t p = 0; p < k; p++) acc += (double)a[r * k + p] * b[p * n + c];
    out[r * n + c] = mask[r * n + c] ? 0.0f : (float)(acc * scale);
}

extern "C" void solve(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, mask, out, scale, m, n, k);
}
