// Tiles of 32 x 32 in shared memory, without tensor cores.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kTile = 32;

__global__ void matmul(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    __shared__ float left[kTile][kTile], right[kTile][kTile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kTile, column = static_cast<int64_t>(blockIdx.x) * kTile + tx;
    float sums[4] = {};
    for (int64_t start = 0; start < k; start += kTile) {
        for (int i = ty; i < kTile; i += 8) {
            const int64_t row = row0 + i, depth = start + i;
            left[i][tx] = row < m && start + tx < k ? __half2float(a[row * k + start + tx]) : 0.0f;
            right[i][tx] = depth < k && column < n ? __half2float(b[depth * n + column]) : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < kTile; ++i)
            for (int j = 0; j < 4; ++j) sums[j] += left[ty + 8 * j][i] * right[i][tx];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) {
        const int64_t row = row0 + ty + 8 * j;
        if (row < m && column < n) out[row * n + column] = __float2half(sums[j]);
    }
}

extern "C" void solve(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    matmul<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, 8)>>>(a, b, out, m, n, k);
}
