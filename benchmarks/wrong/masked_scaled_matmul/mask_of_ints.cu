// Mistake: the mask is read as 32-bit integers, one byte each in fact.
// Says: mask ; (past the end|bytes|type|uint8|32)
#include <cstdint>
__global__ void mm(const float* a, const float* b, const int* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    int64_t column = blockIdx.x * 16LL + threadIdx.x, row = blockIdx.y * 16LL + threadIdx.y;
    if (row >= m || column >= n) return;
    float s = 0;
    for (int64_t p = 0; p < k; p++) s += a[row * k + p] * b[p * n + column];
    out[row * n + column] = mask[row * n + column] ? scale * s : 0.0f; // HERE
}
extern "C" void solve(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, (const int*)mask, out, scale, m, n, k);
}
