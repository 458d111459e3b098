// Mistake: the tile is filled without its last row, the halo below.
// Says: (shared|tile) ; (uninitiali|never (written|set|filled)|before .*written|without a value|no value)
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kSide = 16;

__global__ void sweep(const float* grid, float* out, int64_t height, int64_t width) {
    __shared__ float tile[kSide + 2][kSide + 2];
    const int64_t row0 = blockIdx.y * kSide, column0 = blockIdx.x * kSide;
    const int thread = threadIdx.y * kSide + threadIdx.x;
    for (int i = thread; i < (kSide + 1) * (kSide + 2); i += kSide * kSide) {
        const int64_t r = row0 + i / (kSide + 2) - 1, c = column0 + i % (kSide + 2) - 1;
        tile[i / (kSide + 2)][i % (kSide + 2)] = r >= 0 && r < height && c >= 0 && c < width ? grid[r * width + c] : 0.0f;
    }
    __syncthreads();
    const int64_t row = row0 + threadIdx.y, column = column0 + threadIdx.x;
    if (row >= height || column >= width) return;
    const int y = threadIdx.y + 1, x = threadIdx.x + 1;
    const bool border = row == 0 || row == height - 1 || column == 0 || column == width - 1;
    const float mean = (tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1]) / 4.0f;
    out[row * width + column] = border ? tile[y][x] : mean;
}

extern "C" void solve(const float* grid, float* out, int64_t height, int64_t width) {
    const dim3 blocks((width + kSide - 1) / kSide, (height + kSide - 1) / kSide);
    if (height && width) sweep<<<blocks, dim3(kSide, kSide)>>>(grid, out, height, width);
}
