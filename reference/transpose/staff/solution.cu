// Matrix transpose: a block brings a tile of x into shared memory by rows of x and takes it out by rows of out, so that
// neighbouring threads touch neighbouring addresses both times. What else it takes to come near a copy's speed:
// - Memory is written in sectors of 32 bytes. A sector that leaves the L2 cache with only a part of it written costs
//   more than a whole one: where memory corrects errors (ECC), it is read, completed and written back. Unless `rows`
//   is a multiple of 8, rows of out begin anywhere in a sector, and most pieces that a plain tile writes would begin
//   and end within one. So here each piece of a row of out begins where a sector does. Which rows of x that takes
//   differs from one row of out to the next, by up to seven: a block brings seven rows more than it writes.
// - A warp reads and writes 32 neighbours at once, 4 bytes a thread. Those are the same sectors that float4 would
//   touch, and what counts is how many loads are under way, not how wide each is. As 4 bytes may begin at any number,
//   one way serves all sizes.
// - Blocks that run at the same time form a patch of the matrix, not a strip of it (kTogether).
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kSector = 8;                                // numbers in a sector
constexpr int kTileRows = 128;                            // a block writes pieces this long, of
constexpr int kTileColumns = 64;                          // this many rows of out
constexpr int kHigh = kTileRows + kSector - 1;            // rows of x that it brings
constexpr int kRowsEach = (kHigh + kWarps - 1) / kWarps;  // 9 for each warp; the ninth does not exist for all
constexpr int kPieces = kTileColumns / 32;                // loads of a warp for a row
// Tiles are walked in groups of this many rows of tiles: blocks that run together then read long pieces of rows of x
// and write long pieces of rows of out. One row of tiles after the other, out would be written in scraps.
constexpr unsigned kTogether = 16;

// Row r and column c of the tile lie at r * kPitch + c: a row is one word longer than it needs to be. With 64 words,
// those of a column would all lie in the same bank of shared memory, and the threads that read them would wait for each
// other.
constexpr int kPitch = kTileColumns + 1;

// Row r of the tile is row first + r of x; its columns are those from column0 on. `first` may be negative: what lies
// outside x is neither read nor written. kWhole: nothing lies outside, so there is nothing to compare.
template <bool kWhole>
__device__ __forceinline__ void move(const float* __restrict__ x, float* __restrict__ out, float* tile, int64_t first,
                                     int64_t column0, int64_t rows, int64_t cols) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    // Bring: a warp takes a row at a time. All loads come before the first store, so that all are under way at once:
    // that is what hides memory's latency.
    float ones[kRowsEach][kPieces];
    const float* source = x + (first + warp) * cols + column0 + lane;
#pragma unroll
    for (int i = 0; i < kRowsEach; ++i, source += kWarps * cols) {
        const int r = warp + i * kWarps;
#pragma unroll
        for (int j = 0; j < kPieces; ++j) {
            const bool inside = kWhole || (first + r >= 0 && first + r < rows && column0 + lane + 32 * j < cols);
            ones[i][j] = r < kHigh && inside ? source[32 * j] : 0.0f;
        }
    }
#pragma unroll
    for (int i = 0; i < kRowsEach; ++i) {
        const int r = warp + i * kWarps;
#pragma unroll
        for (int j = 0; j < kPieces; ++j)
            if (r < kHigh) tile[r * kPitch + lane + 32 * j] = ones[i][j];
    }
    __syncthreads();  // a thread takes out what others have brought

    // Take: a warp takes a column of the tile at a time, which is a piece of a row of out. With a shift of 0 the piece
    // would be tile rows kSector - 1 and on, and begin in out where `target` points to, `shift` numbers beyond the
    // beginning of a sector. So both move back by `shift`. In the tiles above and below, this row of out has the same
    // shift: nothing is left out, and nothing is written twice.
    float* target = out + (column0 + warp) * rows + first + kSector - 1 + lane;
    // Where the row of out begins; the piece's place in a sector is the same, as first + kSector - 1 is a multiple of
    // kTileRows. Only the remainder counts, and 32 bits have that right even where the product is larger.
    unsigned begins = static_cast<unsigned>(column0 + warp) * static_cast<unsigned>(rows);
#pragma unroll
    for (int c = warp; c < kTileColumns;
         c += kWarps, target += kWarps * rows, begins += kWarps * static_cast<unsigned>(rows)) {
        if (!kWhole && column0 + c >= cols) break;
        const int shift = begins % kSector;
#pragma unroll
        for (int j = 0; j < kTileRows / 32; ++j) {
            const int r = lane + 32 * j - shift + kSector - 1;
            if (kWhole || (first + r >= 0 && first + r < rows)) target[32 * j - shift] = tile[r * kPitch + c];
        }
    }
}

__global__ void __launch_bounds__(kThreads)
transpose(const float* __restrict__ x, float* __restrict__ out, int64_t rows, int64_t cols, unsigned down,
          unsigned across, unsigned together) {
    __shared__ float tile[kHigh * kPitch];
    const unsigned group = blockIdx.x / (together * across), place = blockIdx.x % (together * across);
    const unsigned left = down - group * together, height = left < together ? left : together;
    const int64_t first = static_cast<int64_t>(group * together + place % height) * kTileRows - (kSector - 1);
    const int64_t column0 = static_cast<int64_t>(place / height) * kTileColumns;
    if (first >= 0 && first + kHigh <= rows && column0 + kTileColumns <= cols)
        move<true>(x, out, tile, first, column0, rows, cols);
    else
        move<false>(x, out, tile, first, column0, rows, cols);
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;  // a grid of 0 blocks is a launch error
    // As pieces are moved back by up to kSector - 1, the last ones may leave that many rows for one more tile.
    const unsigned down = static_cast<unsigned>((rows + kSector - 1 + kTileRows - 1) / kTileRows);
    const unsigned across = static_cast<unsigned>((cols + kTileColumns - 1) / kTileColumns);
    // The last group may be lower than the others. With no more rows of tiles than kTogether, it is the only one.
    const unsigned together = down < kTogether ? down : kTogether;
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    transpose<<<down * across, kThreads>>>(x, out, rows, cols, down, across, together);
}
