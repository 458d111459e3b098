// Mistake: the sum is kept in bfloat16 and rounded after every term.
// Says: (round|precision|digits|bfloat16) ; (sum|accumulat|each|every|term|add)
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_bf16.h>
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    int64_t c = blockIdx.x * 16LL + threadIdx.x, r = blockIdx.y * 16LL + threadIdx.y;
    if (r >= m || c >= n) return;
    __nv_bfloat16 sum = __float2bfloat16(0.0f);
    for (int64_t i = 0; i < k; i++)
        sum = __float2bfloat16(__bfloat162float(sum) + __bfloat162float(a[r * k + i]) * __bfloat162float(b[i * n + c]));
    out[r * n + c] = sum;
}
extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
