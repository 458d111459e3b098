// Mistake: the mask is read as if it were n x m.
// Says: mask ; (transpos|exchang|rows and columns|row of mask|stride|column of mask)
#include <cstdint>
__global__ void mm(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    int64_t column = blockIdx.x * 16LL + threadIdx.x, row = blockIdx.y * 16LL + threadIdx.y;
    if (row >= m || column >= n) return;
    float s = 0;
    for (int64_t p = 0; p < k; p++) s += a[row * k + p] * b[p * n + column];
    out[row * n + column] = mask[column * m + row] ? scale * s : 0.0f;
}
extern "C" void solve(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, mask, out, scale, m, n, k);
}
