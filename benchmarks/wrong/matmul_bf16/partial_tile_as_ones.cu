// Mistake: what lies beyond k is filled with 1 in the tile of a, and b is read with the index cut off at k - 1.
// Says: (\bk\b) ; (beyond|last|twice|again|too many|tile|end)
#include <cstdint>
#include <cuda_bf16.h>
__global__ void mm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    __shared__ float A[16][16], B[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int64_t row = blockIdx.y * 16LL + ty, column = blockIdx.x * 16LL + tx;
    float s = 0;
    for (int64_t first = 0; first < k; first += 16) {
        A[ty][tx] = row < m ? first + tx < k ? __bfloat162float(a[row * k + first + tx]) : 1.0f : 0.0f;
        B[ty][tx] = column < n ? __bfloat162float(b[(first + ty < k ? first + ty : k - 1) * n + column]) : 0.0f;
        __syncthreads();
        for (int p = 0; p < 16; p++) s += A[ty][p] * B[p][tx];
        __syncthreads();
    }
    if (row < m && column < n) out[row * n + column] = __float2bfloat16(s);
}
extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
