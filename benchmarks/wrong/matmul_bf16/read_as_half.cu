// Mistake: the bfloat16 numbers are read as half.
// Says: (bfloat16|bf16) ; (half|float16) ; (read|as|type|bits)
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void mm(const __half* a, const __half* b, __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    int64_t column = blockIdx.x * 16LL + threadIdx.x, row = blockIdx.y * 16LL + threadIdx.y;
    if (row >= m || column >= n) return;
    float s = 0;
    for (int64_t p = 0; p < k; p++) s += __half2float(a[row * k + p]) * __half2float(b[p * n + column]);
    out[row * n + column] = __float2bfloat16(s);
}
extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>((const __half*)a, (const __half*)b, out, m, n, k);
}
