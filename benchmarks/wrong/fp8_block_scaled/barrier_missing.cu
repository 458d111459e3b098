// Mistake: no barrier after a tile is used.
// Says: __syncthreads|barrier
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

constexpr int kTile = 16, kBlock = 128;

__global__ void matmul(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b, const float* b_scale,
                       __nv_bfloat16* out, int64_t m, int64_t n, int64_t k, int64_t blocks) {
    __shared__ float left[kTile][kTile + 1], right[kTile][kTile + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * kTile + ty;
    const int64_t other = static_cast<int64_t>(blockIdx.x) * kTile, column = other + tx;
    float total = 0, sum = 0;
    for (int64_t start = 0; start < k; start += kTile) {
        left[ty][tx] = row < m && start + tx < k ? static_cast<float>(a[row * k + start + tx]) : 0.0f;
        right[ty][tx] = other + ty < n && start + tx < k ? static_cast<float>(b[(other + ty) * k + start + tx]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += left[ty][i] * right[tx][i];
        if ((start + kTile) % kBlock == 0 || start + kTile >= k) {
            const int64_t block = start / kBlock;
            if (row < m && column < n)
                total += sum * a_scale[row * blocks + block] * b_scale[column / kBlock * blocks + block];
            sum = 0;
        }
    }
    if (row < m && column < n) out[row * n + column] = __float2bfloat16(total);
}

extern "C" void solve(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b, const float* b_scale,
                      __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    const dim3 blocks((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    if (m && n)
        matmul<<<blocks, dim3(kTile, kTile)>>>(a, a_scale, b, b_scale, out, m, n, k, (k + kBlock - 1) / kBlock);
}
