// Matrix multiplication: a block computes a 128 x 128 tile of out in shared memory, a thread 8 x 8 of it in registers.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 128;       // rows and columns of out per block
constexpr int kDepth = 8;        // how far along k per step
constexpr int kSide = 16;        // threads per side: 256 threads
constexpr int kOwn = kTile / kSide;

__global__ void __launch_bounds__(kSide * kSide)
matmul(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k, int64_t tiles_n) {
    __shared__ float left[kDepth][kTile];  // a's tile, transposed, so that a step reads along a row
    __shared__ float right[kDepth][kTile];
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const int64_t row0 = blockIdx.x / tiles_n * kTile;
    const int64_t column0 = blockIdx.x % tiles_n * kTile;
    const int thread = threadIdx.x;
    const int ty = thread / kSide, tx = thread % kSide;

    float total[kOwn][kOwn] = {};
    for (int64_t start = 0; start < k; start += kDepth) {
        // 1024 elements of each tile, four per thread; what lies outside counts as 0.
        for (int i = thread; i < kTile * kDepth; i += kSide * kSide) {
            const int64_t row = row0 + i / kDepth, depth_a = start + i % kDepth;
            left[i % kDepth][i / kDepth] = row < m && depth_a < k ? a[row * k + depth_a] : 0.0f;
            const int64_t depth_b = start + i / kTile, column = column0 + i % kTile;
            right[i / kTile][i % kTile] = depth_b < k && column < n ? b[depth_b * n + column] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < kDepth; ++d) {
            float mine[kOwn], theirs[kOwn];
            // Strided by kSide, so that neighbouring threads read neighbouring words: no bank conflicts.
            for (int i = 0; i < kOwn; ++i) mine[i] = left[d][ty + i * kSide];
            for (int j = 0; j < kOwn; ++j) theirs[j] = right[d][tx + j * kSide];
            for (int i = 0; i < kOwn; ++i)
                for (int j = 0; j < kOwn; ++j) total[i][j] += mine[i] * theirs[j];
        }
        __syncthreads();  // nobody may load the next tiles while someone still reads these
    }

    for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j) {
            const int64_t row = row0 + ty + i * kSide, column = column0 + tx + j * kSide;
            if (row < m && column < n) out[row * n + column] = total[i][j];
        }
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    const int64_t tiles_m = (m + kTile - 1) / kTile, tiles_n = (n + kTile - 1) / kTile;
    matmul<<<static_cast<unsigned>(tiles_m * tiles_n), kSide * kSide>>>(a, b, out, m, n, k, tiles_n);
}
