// Matrix transpose: a block brings a 64 x 64 tile into shared memory by rows of x and takes it out by rows of out, so
// that neighbouring threads touch neighbouring addresses both times.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 64;
constexpr int kThreads = 256;
constexpr int kOwn = kTile * kTile / kThreads;  // 16 numbers per thread
constexpr int kGroups = kTile / 4;              // groups of four numbers in a row of a tile
// Tiles are walked in groups of this many rows of tiles: blocks that run together then read long pieces of rows of x
// and write long pieces of rows of out. One row of tiles after the other, out would be written in scraps.
constexpr int64_t kTogether = 16;

// A row of the tile is one word longer than it needs to be. With 64 words, the words of a column would all lie in the
// same bank of shared memory, and the threads that read them would wait for each other.
using Tile = float[kTile][kTile + 1];

// tile[r][c] = x[row0 + r, column0 + c], where that is inside. All loads come before the first store, so that all are
// under way at once: that is what hides memory's latency.
__device__ void bring(const float* x, Tile& tile, int64_t row0, int64_t column0, int64_t rows, int64_t cols) {
    const bool whole = row0 + kTile <= rows && column0 + kTile <= cols;
    if (whole && cols % 4 == 0) {  // then every row of x begins at a multiple of 16 bytes
        float4 fours[kOwn / 4];
#pragma unroll
        for (int i = 0; i < kOwn / 4; ++i) {
            const int place = threadIdx.x + i * kThreads;
            const int r = place / kGroups, c = place % kGroups * 4;
            fours[i] = *reinterpret_cast<const float4*>(x + (row0 + r) * cols + column0 + c);
        }
#pragma unroll
        for (int i = 0; i < kOwn / 4; ++i) {
            const int place = threadIdx.x + i * kThreads;
            const int r = place / kGroups, c = place % kGroups * 4;
            tile[r][c] = fours[i].x;
            tile[r][c + 1] = fours[i].y;
            tile[r][c + 2] = fours[i].z;
            tile[r][c + 3] = fours[i].w;
        }
        return;
    }
    float ones[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        const int place = threadIdx.x + i * kThreads;
        const int64_t row = row0 + place / kTile, column = column0 + place % kTile;
        ones[i] = row < rows && column < cols ? x[row * cols + column] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        const int place = threadIdx.x + i * kThreads;
        tile[place / kTile][place % kTile] = ones[i];
    }
}

// out[column0 + c, row0 + r] = tile[r][c], where that is inside.
__device__ void take(float* out, const Tile& tile, int64_t row0, int64_t column0, int64_t rows, int64_t cols) {
    const bool whole = row0 + kTile <= rows && column0 + kTile <= cols;
    if (whole && rows % 4 == 0) {  // then every row of out begins at a multiple of 16 bytes
#pragma unroll
        for (int i = 0; i < kOwn / 4; ++i) {
            const int place = threadIdx.x + i * kThreads;
            const int c = place / kGroups, r = place % kGroups * 4;
            *reinterpret_cast<float4*>(out + (column0 + c) * rows + row0 + r) =
                make_float4(tile[r][c], tile[r + 1][c], tile[r + 2][c], tile[r + 3][c]);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        const int place = threadIdx.x + i * kThreads;
        const int c = place / kTile, r = place % kTile;
        if (row0 + r < rows && column0 + c < cols) out[(column0 + c) * rows + row0 + r] = tile[r][c];
    }
}

__global__ void __launch_bounds__(kThreads)
transpose(const float* x, float* out, int64_t rows, int64_t cols, int64_t down, int64_t across) {
    __shared__ Tile tile;
    const int64_t group = blockIdx.x / (kTogether * across), place = blockIdx.x % (kTogether * across);
    const int64_t left = down - group * kTogether, height = left < kTogether ? left : kTogether;
    const int64_t row0 = (group * kTogether + place % height) * kTile;
    const int64_t column0 = place / height * kTile;
    bring(x, tile, row0, column0, rows, cols);
    __syncthreads();  // a thread takes out what others have brought
    take(out, tile, row0, column0, rows, cols);
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;  // a grid of 0 blocks is a launch error
    const int64_t down = (rows + kTile - 1) / kTile, across = (cols + kTile - 1) / kTile;
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    transpose<<<static_cast<unsigned>(down * across), kThreads>>>(x, out, rows, cols, down, across);
}
