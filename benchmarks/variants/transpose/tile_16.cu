// Tiles of 16 x 16, padded: half-warps of 64 bytes.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 16, kPitch = 17, kHeight = 16;

__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols, unsigned across) {
    __shared__ float tile[kTile][kPitch];
    const int64_t row0 = static_cast<int64_t>(blockIdx.x / across) * kTile;
    const int64_t column0 = static_cast<int64_t>(blockIdx.x % across) * kTile;
    for (int r = threadIdx.y; r < kTile; r += kHeight)
        if (row0 + r < rows && column0 + threadIdx.x < cols)
            tile[r][threadIdx.x] = x[(row0 + r) * cols + column0 + threadIdx.x];
    __syncthreads();
    for (int c = threadIdx.y; c < kTile; c += kHeight)
        if (column0 + c < cols && row0 + threadIdx.x < rows)
            out[(column0 + c) * rows + row0 + threadIdx.x] = tile[threadIdx.x][c];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    const unsigned across = static_cast<unsigned>((cols + kTile - 1) / kTile);
    const unsigned down = static_cast<unsigned>((rows + kTile - 1) / kTile);
    transpose<<<across * down, dim3(kTile, kHeight)>>>(x, out, rows, cols, across);
}
