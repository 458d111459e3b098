// Tiles of 32 x 32, and 2 x 2 results a thread in registers.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kOwn = 2, kSide = 16, kTile = kOwn * kSide, kDepth = 16;

__global__ void matmul(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    __shared__ float left[kDepth][kTile + 1], right[kDepth][kTile];
    const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
    const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kTile, column0 = static_cast<int64_t>(blockIdx.x) * kTile;
    float total[kOwn][kOwn] = {};
    for (int64_t start = 0; start < k; start += kDepth) {
        for (int i = threadIdx.x; i < kTile * kDepth; i += kSide * kSide) {
            const int row = i / kDepth, depth = i % kDepth;
            left[depth][row] = row0 + row < m && start + depth < k ? a[(row0 + row) * k + start + depth] : 0.0f;
        }
        for (int i = threadIdx.x; i < kTile * kDepth; i += kSide * kSide) {
            const int depth = i / kTile, column = i % kTile;
            right[depth][column] =
                start + depth < k && column0 + column < n ? b[(start + depth) * n + column0 + column] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < kDepth; ++d) {
            float mine[kOwn], theirs[kOwn];
            for (int i = 0; i < kOwn; ++i) mine[i] = left[d][ty + i * kSide];
            for (int j = 0; j < kOwn; ++j) theirs[j] = right[d][tx + j * kSide];
            for (int i = 0; i < kOwn; ++i)
                for (int j = 0; j < kOwn; ++j) total[i][j] += mine[i] * theirs[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j) {
            const int64_t row = row0 + ty + i * kSide, column = column0 + tx + j * kSide;
            if (row < m && column < n) out[row * n + column] = total[i][j];
        }
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    matmul<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), kSide * kSide>>>(a, b, out, m, n, k);
}
