// Mistake: where the mask is 0 nothing is written.
// Says: never written ; mask
#include <cstdint>
__global__ void mm(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    int64_t column = blockIdx.x * 16LL + threadIdx.x, row = blockIdx.y * 16LL + threadIdx.y;
    if (row >= m || column >= n) return;
    if (!mask[row * n + column]) return;
    float s = 0;
    for (int64_t p = 0; p < k; p++) s += a[row * k + p] * b[p * n + column];
    out[row * n + column] = scale * s;
}
extern "C" void solve(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, mask, out, scale, m, n, k);
}
