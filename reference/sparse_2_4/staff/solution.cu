// 2:4 sparse times dense on sparse tensor cores: mma.sp takes the kept values and their places as they are in memory, and
// picks the rows of b itself. A block computes a 256 x 128 tile of out; b is twice as large as the values, so the tile has
// more rows than columns. The next steps along k are on their way to shared memory while one is multiplied.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kTileM = 256, kTileN = 128;  // rows and columns of out per block
constexpr int kWords = 2;                  // words of places per step and row
constexpr int kDepth = 32 * kWords;        // rows of b per step
constexpr int kKept = kDepth / 2;          // values per step and row
constexpr int kThreads = 256;              // eight warps, 4 down and 2 across
constexpr int kDown = 4;                   // pieces of 16 rows of a warp's part of out,
constexpr int kAcross = 8;                 // and of 8 columns
constexpr int kChunk = 8;                  // elements in 16 bytes, the most that one copy moves
constexpr int64_t kGroup = 8;              // rows of tiles that share columns of b in the L2 cache

struct Stage {
    __half values[kTileM][kKept];
    __half right[kDepth][kTileN];
    uint16_t places[kTileM][2 * kWords];  // 16 bits for 16 columns
};

// The first element of a chunk of a row of a tile. ldmatrix reads the same chunk of eight rows at once: in their own order
// they would share a few banks.
template <int kWidth>
__device__ int chunk_at(int row, int chunk) {
    // Two rows of 32 elements fill all banks once, a longer one alone does.
    return (chunk ^ (kWidth == 32 ? row / 2 % 4 : row % 8)) * kChunk;
}

// Four pieces of 8 x 8 elements: each lane has the address of a row. Lane l gets elements 2 * (l % 4) and the next of row
// l / 4 of each piece; kTransposed: of column l / 4.
template <bool kTransposed>
__device__ void load_pieces(unsigned (&words)[4], const __half* row) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (kTransposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(at) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(at) : "memory");
}

// sums[16 x 8] += a[16 x 32] * right[32 x 8], where a keeps 16 values of a row. Of each four lanes, the two that kHalf
// selects have the places of two rows: 16 columns each.
template <int kHalf>
__device__ void multiply(float (&sums)[4], const unsigned (&values)[4], const unsigned (&right)[4], unsigned places) {
    asm volatile(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(values[0]), "r"(values[1]), "r"(values[2]), "r"(values[3]), "r"(right[0]), "r"(right[1]), "r"(right[2]),
          "r"(right[3]), "r"(places), "n"(kHalf));
}

// A word of places' columns, for a warp's 64 x 64.
template <int kHalf>
__device__ void multiply_word(float (&sums)[kDown][kAcross][4], const Stage& stage, const unsigned (&places)[kDown],
                              int warp_row, int warp_column, int lane) {
    unsigned mine[kDown][4];
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
        const int row = warp_row + i * 16 + lane % 16;
        load_pieces<false>(mine[i], &stage.values[row][chunk_at<kKept>(row, 2 * kHalf + lane / 16)]);
    }
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
        unsigned theirs[4];
        const int row = 32 * kHalf + lane;
        load_pieces<true>(theirs, &stage.right[row][chunk_at<kTileN>(row, warp_column / kChunk + j)]);
#pragma unroll
        for (int i = 0; i < kDown; ++i) multiply<kHalf>(sums[i][j], mine[i], theirs, places[i]);
    }
}

// Rows after the last one are the last one again, whose places are valid; nobody stores their sums. Columns after the last
// one are 0. The second word of an odd number of words has no columns and is not multiplied.
__device__ void copy_step(Stage& stage, const __half* values, const uint8_t* places, const __half* b, int64_t row0,
                          int64_t column0, int64_t m, int64_t n, int64_t words, int64_t word0) {
    const int there = words - word0 < kWords ? static_cast<int>(words - word0) : kWords;
#pragma unroll
    for (int i = 0; i < kTileM * kKept / kChunk / kThreads; ++i) {
        const int piece = threadIdx.x + i * kThreads, row = piece / (kKept / kChunk), chunk = piece % (kKept / kChunk);
        const int64_t from = row0 + row < m ? row0 + row : m - 1;
        if (chunk < 2 * there)
            __pipeline_memcpy_async(&stage.values[row][chunk_at<kKept>(row, chunk)],
                                    values + (from * words + word0) * 16 + chunk * kChunk, 16);
    }
#pragma unroll
    for (int i = 0; i < kDepth * kTileN / kChunk / kThreads; ++i) {
        const int piece = threadIdx.x + i * kThreads, row = piece / (kTileN / kChunk), chunk = piece % (kTileN / kChunk);
        const int64_t column = column0 + chunk * kChunk;
        // The last argument is how many of the 16 bytes are to be zeros instead of copied.
        if (row < 32 * there)
            __pipeline_memcpy_async(&stage.right[row][chunk_at<kTileN>(row, chunk)],
                                    column < n ? b + (word0 * 32 + row) * n + column : b, 16, column < n ? 0 : 16);
    }
#pragma unroll
    for (int i = 0; i < kTileM * kWords / kThreads; ++i) {
        const int piece = threadIdx.x + i * kThreads, row = piece / kWords, word = piece % kWords;
        const int64_t from = row0 + row < m ? row0 + row : m - 1;
        __pipeline_memcpy_async(&stage.places[row][2 * word],
                                places + (from * words + word0 + (word < there ? word : 0)) * 4, 4);
    }
}

template <int kStages>
__global__ void __launch_bounds__(kThreads, 1)
multiply_sparse(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n,
                int64_t words, int64_t tiles_m, int64_t tiles_n) {
    extern __shared__ __align__(128) unsigned char memory[];
    Stage* stages = reinterpret_cast<Stage*>(memory);
    // Down a group of rows of tiles first. The grid is one-dimensional: its limit is 2^31 - 1 blocks, the other dimensions
    // end at 65535.
    const int64_t first = blockIdx.x / (kGroup * tiles_n) * kGroup, within = blockIdx.x % (kGroup * tiles_n);
    const int64_t group = tiles_m - first < kGroup ? tiles_m - first : kGroup;
    const int64_t row0 = (first + within % group) * kTileM, column0 = within / group * kTileN;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 2 * kDown * 16, warp_column = warp % 2 * kAcross * 8;

    const int64_t steps = (words + kWords - 1) / kWords;
    const auto copy = [&](int64_t step) {
        if (step < steps)
            copy_step(stages[step % kStages], values, places, b, row0, column0, m, n, words, step * kWords);
        __pipeline_commit();  // an empty one, too: the wait below counts them
    };

    float sums[kDown][kAcross][4] = {};
    for (int step = 0; step < kStages - 1; ++step) copy(step);
    for (int64_t step = 0; step < steps; ++step) {
        __pipeline_wait_prior(kStages - 2);  // this thread's copies of the step have arrived,
        __syncthreads();                     // and all others'; and nobody reads the stage that is filled next
        copy(step + kStages - 1);
        const Stage& stage = stages[step % kStages];
        // Lane 4 * g + t: 16 columns of rows g and g + 8. The lanes of t = 0 and 1 have the first word, the others the second.
        unsigned of_lane[kDown];
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
            const int row = warp_row + i * 16 + lane / 4;
            of_lane[i] = stage.places[row][lane % 4] | static_cast<unsigned>(stage.places[row + 8][lane % 4]) << 16;
        }
        multiply_word<0>(sums, stage, of_lane, warp_row, warp_column, lane);
        if (step * kWords + 1 < words) multiply_word<1>(sums, stage, of_lane, warp_row, warp_column, lane);
    }
    __pipeline_wait_prior(0);

    // A lane has two neighbours in a row of each piece, and two more eight rows below.
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = row0 + warp_row + i * 16 + half * 8 + lane / 4;
            if (row >= m) continue;
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                const int64_t column = column0 + warp_column + j * 8 + lane % 4 * 2;
                if (column < n)
                    *reinterpret_cast<__half2*>(out + row * n + column) =
                        __floats2half2_rn(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
            }
        }
}

template <int kStages>
static void launch(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n,
                   int64_t words) {
    const int64_t tiles_m = (m + kTileM - 1) / kTileM, tiles_n = (n + kTileN - 1) / kTileN;
    constexpr int kShared = kStages * static_cast<int>(sizeof(Stage));
    cudaFuncSetAttribute(multiply_sparse<kStages>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
    multiply_sparse<kStages><<<static_cast<unsigned>(tiles_m * tiles_n), kThreads, kShared>>>(values, places, b, out, m, n,
                                                                                              words, tiles_m, tiles_n);
}

extern "C" void solve(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n,
                      int64_t words) {
    if (m == 0 || n == 0) return;  // out is empty; words = 0 is not special: the sums stay 0 and are stored
    int device = 0, room = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (room >= static_cast<int>(4 * sizeof(Stage)))
        launch<4>(values, places, b, out, m, n, words);
    else
        launch<2>(values, places, b, out, m, n, words);
}
