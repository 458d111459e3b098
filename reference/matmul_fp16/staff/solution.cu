// Matrix multiplication of float16 on tensor cores (wmma): a block computes a 128 x 128 tile of out, each of its
// eight warps 32 x 64 of it. While one step along k is multiplied, the next is copied to shared memory in the background.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 128;       // rows and columns of out per block
constexpr int kDepth = 32;       // how far along k per step
constexpr int kWarps = 8;        // 4 down, 2 across
constexpr int kThreads = kWarps * 32;
constexpr int kDown = 2;         // 16 x 16 pieces of a warp's part of out: 32 rows,
constexpr int kAcross = 4;       // 64 columns
constexpr int kPiece = 16;
constexpr int kChunk = 8;        // elements in 16 bytes, the most that one copy moves
constexpr int kPad = 8;          // shifts each row by 16 bytes, so that the rows of a piece lie in different banks

// 16 bytes of a row to shared memory; what lies outside the matrix counts as 0. kChunks: rows are a multiple of a chunk
// long, so a chunk lies inside or outside as a whole, at a multiple of 16 bytes, and is copied in the background.
template <bool kChunks>
__device__ void copy_chunk(__half* to, const __half* matrix, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    if constexpr (kChunks) {
        const bool inside = row < rows && column < columns;
        // The last argument is how many of the 16 bytes are to be zeros instead of copied.
        __pipeline_memcpy_async(to, inside ? matrix + row * columns + column : matrix, 16, inside ? 0 : 16);
    } else {
        for (int i = 0; i < kChunk; ++i)
            to[i] = row < rows && column + i < columns ? matrix[row * columns + column + i] : __float2half(0.0f);
    }
}

template <bool kChunks>
__global__ void __launch_bounds__(kThreads)
matmul(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k, int64_t tiles_n) {
    // Two of each: one is multiplied while the other is filled. Pieces must begin at a multiple of 32 bytes.
    __shared__ __align__(128) __half left[2][kTile][kDepth + kPad];
    __shared__ __align__(128) __half right[2][kDepth][kTile + kPad];
    __shared__ __align__(128) float pieces[kWarps][kPiece][kPiece];
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const int64_t row0 = blockIdx.x / tiles_n * kTile;
    const int64_t column0 = blockIdx.x % tiles_n * kTile;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int warp_row = warp / 2 * kDown * kPiece, warp_column = warp % 2 * kAcross * kPiece;

    const auto copy_tiles = [&](int stage, int64_t start) {
        for (int i = thread; i < kTile * kDepth / kChunk; i += kThreads) {
            const int row_a = i / (kDepth / kChunk), column_a = i % (kDepth / kChunk) * kChunk;
            copy_chunk<kChunks>(&left[stage][row_a][column_a], a, row0 + row_a, start + column_a, m, k);
            const int row_b = i / (kTile / kChunk), column_b = i % (kTile / kChunk) * kChunk;
            copy_chunk<kChunks>(&right[stage][row_b][column_b], b, start + row_b, column0 + column_b, k, n);
        }
        __pipeline_commit();
    };

    // float32 sums of float16 products: what tensor cores are made for.
    wmma::fragment<wmma::accumulator, kPiece, kPiece, kPiece, float> total[kDown][kAcross];
    for (int i = 0; i < kDown; ++i)
        for (int j = 0; j < kAcross; ++j) wmma::fill_fragment(total[i][j], 0.0f);

    if (k > 0) copy_tiles(0, 0);
    int stage = 0;
    for (int64_t start = 0; start < k; start += kDepth) {
        const bool more = start + kDepth < k;
        if (more) copy_tiles(stage ^ 1, start + kDepth);
        // All copies of this thread but the newest have arrived, or simply all in the last step;
        __pipeline_wait_prior(more ? 1 : 0);
        __syncthreads();  // and so have those of all other threads.
        for (int d = 0; d < kDepth; d += kPiece) {
            wmma::fragment<wmma::matrix_a, kPiece, kPiece, kPiece, __half, wmma::row_major> mine[kDown];
            wmma::fragment<wmma::matrix_b, kPiece, kPiece, kPiece, __half, wmma::row_major> theirs[kAcross];
            for (int i = 0; i < kDown; ++i)
                wmma::load_matrix_sync(mine[i], &left[stage][warp_row + i * kPiece][d], kDepth + kPad);
            for (int j = 0; j < kAcross; ++j)
                wmma::load_matrix_sync(theirs[j], &right[stage][d][warp_column + j * kPiece], kTile + kPad);
            for (int i = 0; i < kDown; ++i)
                for (int j = 0; j < kAcross; ++j) wmma::mma_sync(total[i][j], mine[i], theirs[j], total[i][j]);
        }
        __syncthreads();  // nobody may fill this tile again while someone still reads it
        stage ^= 1;
    }

    // How a fragment lies in registers is not documented, so it goes through shared memory. Each warp has its own piece.
    for (int i = 0; i < kDown; ++i)
        for (int j = 0; j < kAcross; ++j) {
            wmma::store_matrix_sync(&pieces[warp][0][0], total[i][j], kPiece, wmma::mem_row_major);
            __syncwarp();
            // Two lanes for each row of the piece, eight columns each.
            const int piece_row = lane / 2, piece_column = lane % 2 * kChunk;
            const int64_t row = row0 + warp_row + i * kPiece + piece_row;
            const int64_t column = column0 + warp_column + j * kPiece + piece_column;
            __align__(16) __half rounded[kChunk];
            for (int c = 0; c < kChunk; ++c) rounded[c] = __float2half(pieces[warp][piece_row][piece_column + c]);
            if (kChunks) {
                if (row < m && column < n)
                    *reinterpret_cast<uint4*>(out + row * n + column) = *reinterpret_cast<const uint4*>(rounded);
            } else if (row < m) {
                for (int c = 0; c < kChunk && column + c < n; ++c) out[row * n + column + c] = rounded[c];
            }
            __syncwarp();  // the piece is about to be overwritten
        }
}

extern "C" void solve(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    const int64_t tiles_m = (m + kTile - 1) / kTile, tiles_n = (n + kTile - 1) / kTile;
    const unsigned blocks = static_cast<unsigned>(tiles_m * tiles_n);
    if (k % kChunk == 0 && n % kChunk == 0)
        matmul<true><<<blocks, kThreads>>>(a, b, out, m, n, k, tiles_n);
    else
        matmul<false><<<blocks, kThreads>>>(a, b, out, m, n, k, tiles_n);
}
