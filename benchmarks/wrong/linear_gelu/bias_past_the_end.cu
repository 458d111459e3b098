// Mistake: the bias is taken by row: there are more rows than columns.
// Says: bias ; (past|outside|beyond|end|row)
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kTile = 16;

__device__ float gelu(float y) { return 0.5f * y * (1.0f + erff(y * 0.70710678f)); }

__global__ void linear(const __half* x, const __half* w, const __half* bias, __half* out, int64_t m, int64_t n, int64_t k,
                       int64_t tiles_n) {
    __shared__ float left[kTile][kTile], right[kTile][kTile];
    const int ty = threadIdx.x / kTile, tx = threadIdx.x % kTile;
    const int64_t row = blockIdx.x / tiles_n * kTile + ty, column = blockIdx.x % tiles_n * kTile + tx;
    const float added = row < m ? __half2float(bias[row]) : 0.0f;  // HERE
    float sum = 0.0f;
    for (int64_t start = 0; start < k; start += kTile) {
        left[ty][tx] = row < m && start + tx < k ? __half2float(x[row * k + start + tx]) : 0.0f;
        right[ty][tx] = start + ty < k && column < n ? __half2float(w[(start + ty) * n + column]) : 0.0f;
        __syncthreads();
        for (int d = 0; d < kTile; ++d) sum += left[ty][d] * right[d][tx];
        __syncthreads();
    }
    if (row < m && column < n) out[row * n + column] = __float2half(gelu(sum + added));
}

extern "C" void solve(const __half* x, const __half* w, const __half* bias, __half* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    const int64_t tiles_m = (m + kTile - 1) / kTile, tiles_n = (n + kTile - 1) / kTile;
    linear<<<static_cast<unsigned>(tiles_m * tiles_n), kTile * kTile>>>(x, w, bias, out, m, n, k, tiles_n);
}
