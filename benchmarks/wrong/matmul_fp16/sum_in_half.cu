// Mistake: the sum is kept in half.
// Says: (half|float16|16 bits) ; (sum|accumul|adds up|total)
#include <cuda_fp16.h>
__global__ void mm(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    int64_t column = blockIdx.x * 16LL + threadIdx.x, row = blockIdx.y * 16LL + threadIdx.y;
    if (row >= m || column >= n) return;
    __half s = __float2half(0.0f);
    for (int64_t p = 0; p < k; p++) s = __hfma(a[row * k + p], b[p * n + column], s);
    out[row * n + column] = s;
}
extern "C" void solve(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
