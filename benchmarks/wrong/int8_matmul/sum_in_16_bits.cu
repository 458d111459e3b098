// Mistake: the sum has 16 bits.
// Says: (16 bits|short|int16|overflow|wrap|32767|2\^16)
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void matmul(const int8_t* a, const int8_t* b, const float* row_scale, const float* col_scale, float* out,
                       int64_t m, int64_t n, int64_t k) {
    __shared__ int8_t left[kTile][kTile], right[kTile][kTile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * kTile + ty;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * kTile + tx;
    short sum = 0;
    for (int64_t start = 0; start < k; start += kTile) {
        left[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0;
        right[ty][tx] = start + ty < k && column < n ? b[(start + ty) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += left[ty][i] * right[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) out[row * n + column] = static_cast<float>(sum) * row_scale[row] * col_scale[column];
}

extern "C" void solve(const int8_t* a, const int8_t* b, const float* row_scale, const float* col_scale, float* out,
                      int64_t m, int64_t n, int64_t k) {
    const dim3 blocks((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    if (m && n) matmul<<<blocks, dim3(kTile, kTile)>>>(a, b, row_scale, col_scale, out, m, n, k);
}
