// Tiles of 64 x 64, 4 x 4 results a thread, and 16 bytes a load of global and of shared memory where sizes allow.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kOwn = 4, kSide = 16, kTile = kOwn * kSide, kDepth = 16;

template <bool Whole>
__device__ float4 four_of(const float* row, int64_t at, int64_t end) {
    if (Whole && at + 3 < end) return *reinterpret_cast<const float4*>(row + at);
    return make_float4(at < end ? row[at] : 0.0f, at + 1 < end ? row[at + 1] : 0.0f, at + 2 < end ? row[at + 2] : 0.0f,
                       at + 3 < end ? row[at + 3] : 0.0f);
}

template <bool Whole>
__global__ void matmul(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    __shared__ __align__(16) float left[kDepth][kTile + 4], right[kDepth][kTile];
    const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
    const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kTile, column0 = static_cast<int64_t>(blockIdx.x) * kTile;
    float total[kOwn][kOwn] = {};
    for (int64_t start = 0; start < k; start += kDepth) {
        const int row = threadIdx.x / 4, depth = threadIdx.x % 4 * 4;
        const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        const float4 down = row0 + row < m ? four_of<Whole>(a + (row0 + row) * k, start + depth, k) : zero;
        left[depth][row] = down.x;
        left[depth + 1][row] = down.y;
        left[depth + 2][row] = down.z;
        left[depth + 3][row] = down.w;
        const int64_t line = start + ty;
        *reinterpret_cast<float4*>(&right[ty][tx * 4]) =
            line < k ? four_of<Whole>(b + line * n, column0 + tx * 4, n) : zero;
        __syncthreads();
#pragma unroll
        for (int d = 0; d < kDepth; ++d) {
            const float4 mine = *reinterpret_cast<const float4*>(&left[d][ty * kOwn]);
            const float4 theirs = *reinterpret_cast<const float4*>(&right[d][tx * kOwn]);
            const float rows[kOwn] = {mine.x, mine.y, mine.z, mine.w};
            const float columns[kOwn] = {theirs.x, theirs.y, theirs.z, theirs.w};
            for (int i = 0; i < kOwn; ++i)
                for (int j = 0; j < kOwn; ++j) total[i][j] += rows[i] * columns[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j) {
            const int64_t row = row0 + ty * kOwn + i, column = column0 + tx * kOwn + j;
            if (row < m && column < n) out[row * n + column] = total[i][j];
        }
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    if (n % 4 == 0 && k % 4 == 0)
        matmul<true><<<grid, kSide * kSide>>>(a, b, out, m, n, k);
    else
        matmul<false><<<grid, kSide * kSide>>>(a, b, out, m, n, k);
}
