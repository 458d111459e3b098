// Jacobi sweep: a warp has a tile of 8 rows and 128 columns in registers, with its halo. The neighbours above and below
// are in the same thread, those to the left and right in the lanes next to it. Rows may begin anywhere, so lanes take
// single elements, 32 columns apart: loads of a warp are neighbours, and a thread has 40 of them under way.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kWarps = 4;  // below each other: rows between them come from the L1 cache
constexpr int kThreads = kWarps * 32;
constexpr int kRows = 8;     // rows of a warp's tile
constexpr int kColumns = 4;  // columns of a thread, 32 apart
constexpr int kTileColumns = kColumns * 32;
constexpr int kTileRows = kWarps * kRows;
constexpr unsigned kAllLanes = 0xffffffffu;

// kInner: the grid has all of the tile and of its halo, so that no element of it is on the border.
template <bool kInner>
__device__ __forceinline__ void sweep_tile(const float* grid, float* out, int64_t height, int64_t width, int64_t row,
                                           int64_t column) {
    const int lane = threadIdx.x % 32;
    const auto load = [&](int64_t r, int64_t c) {
        if (kInner) return grid[r * width + c];
        return r >= 0 && r < height && c >= 0 && c < width ? grid[r * width + c] : 0.0f;
    };

    // Row 0 is the halo above, the last one the halo below.
    float rows[kRows + 2][kColumns];
#pragma unroll
    for (int r = 0; r < kRows + 2; ++r)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) rows[r][j] = load(row - 1 + r, column + lane + 32 * j);
    // The halo to the left is in lane 31, that to the right in lane 0: each is the last that its lane sends on.
    float edge[kRows] = {};
    if (lane == 0 || lane == 31) {
        const int64_t beyond = lane == 0 ? column + kTileColumns : column - 1;
#pragma unroll
        for (int r = 0; r < kRows; ++r) edge[r] = load(row + r, beyond);
    }

#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const float(&mine)[kColumns] = rows[r + 1];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            // Lane 0 has its left neighbour in lane 31, 32 columns before; lane 31 its right one in lane 0, 32 after.
            const float before = j > 0 ? mine[j > 0 ? j - 1 : 0] : edge[r];
            const float after = j < kColumns - 1 ? mine[j < kColumns - 1 ? j + 1 : j] : edge[r];
            const float left = __shfl_sync(kAllLanes, lane == 31 ? before : mine[j], (lane + 31) % 32);
            const float right = __shfl_sync(kAllLanes, lane == 0 ? after : mine[j], (lane + 1) % 32);
            const float mean = 0.25f * ((rows[r][j] + rows[r + 2][j]) + (left + right));
            const int64_t at_row = row + r, at_column = column + lane + 32 * j;
            if (kInner) {
                out[at_row * width + at_column] = mean;
            } else if (at_row < height && at_column < width) {
                const bool border =
                    at_row == 0 || at_row == height - 1 || at_column == 0 || at_column == width - 1;
                out[at_row * width + at_column] = border ? mine[j] : mean;
            }
        }
    }
}

__global__ void __launch_bounds__(kThreads)
    sweep(const float* __restrict__ grid, float* __restrict__ out, int64_t height, int64_t width, unsigned across) {
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const int64_t row = static_cast<int64_t>(blockIdx.x / across) * kTileRows + threadIdx.x / 32 * kRows;
    const int64_t column = static_cast<int64_t>(blockIdx.x % across) * kTileColumns;
    // The same for the whole warp, whose lanes exchange registers.
    if (row >= 1 && row + kRows < height && column >= 1 && column + kTileColumns < width)
        sweep_tile<true>(grid, out, height, width, row, column);
    else if (row < height)
        sweep_tile<false>(grid, out, height, width, row, column);
}

extern "C" void solve(const float* grid, float* out, int64_t height, int64_t width) {
    if (height == 0 || width == 0) return;  // a grid of 0 blocks is a launch error
    const int64_t across = (width + kTileColumns - 1) / kTileColumns, down = (height + kTileRows - 1) / kTileRows;
    sweep<<<static_cast<unsigned>(across * down), kThreads>>>(grid, out, height, width, static_cast<unsigned>(across));
}
