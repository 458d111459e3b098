// Matrix multiplication of float16 on tensor cores (mma.sync): a block computes a 128 x 256 tile of out, each of its eight
// warps 64 x 64 of it. Three steps along k are on their way to shared memory while one is multiplied.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kTileM = 128, kTileN = 256;  // rows and columns of out per block
constexpr int kDepth = 32;                 // how far along k per step
constexpr int kStages = 4;
constexpr int kThreads = 256;              // eight warps, 2 down and 4 across
constexpr int kDown = 4;                   // pieces of 16 rows of a warp's part of out,
constexpr int kAcross = 8;                 // and of 8 columns
constexpr int kChunk = 8;                  // elements in 16 bytes, the most that one copy moves
constexpr int64_t kGroup = 16;             // rows of tiles that share columns of b in the L2 cache

struct Stage {
    __half left[kTileM][kDepth];
    __half right[kDepth][kTileN];
};

// The first element of a chunk of a row of a tile. ldmatrix reads the same chunk of eight rows at once: in their own order
// they would share a few banks.
template <int kWidth>
__device__ int chunk_at(int row, int chunk) {
    // Two rows of 32 elements fill all banks once, a longer one alone does.
    return (chunk ^ (kWidth == 32 ? row / 2 % 4 : row % 8)) * kChunk;
}

// A tile's part of a matrix, from `row0` and `column0` on; what is outside the matrix is 0. kChunks: rows are a multiple
// of a chunk long, so a chunk is inside or outside as a whole, at a multiple of 16 bytes, and is copied in the background.
template <bool kChunks, int kRows, int kWidth>
__device__ void copy_tile(__half (&to)[kRows][kWidth], const __half* matrix, int64_t row0, int64_t column0,
                          int64_t rows, int64_t columns) {
#pragma unroll
    for (int i = 0; i < kRows * kWidth / kChunk / kThreads; ++i) {
        const int piece = threadIdx.x + i * kThreads, row = piece / (kWidth / kChunk), chunk = piece % (kWidth / kChunk);
        __half* at = &to[row][chunk_at<kWidth>(row, chunk)];
        const int64_t column = column0 + chunk * kChunk;
        if constexpr (kChunks) {
            const bool inside = row0 + row < rows && column < columns;
            // The last argument is how many of the 16 bytes are to be zeros instead of copied.
            __pipeline_memcpy_async(at, inside ? matrix + (row0 + row) * columns + column : matrix, 16, inside ? 0 : 16);
        } else {
            for (int c = 0; c < kChunk; ++c)
                at[c] = row0 + row < rows && column + c < columns ? matrix[(row0 + row) * columns + column + c]
                                                                  : __float2half(0.0f);
        }
    }
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

// sums[16 x 8] += left[16 x 16] * right[16 x 8], with sums in float32.
__device__ void multiply(float (&sums)[4], const unsigned (&left)[4], unsigned right0, unsigned right1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

template <bool kChunks>
__global__ void __launch_bounds__(kThreads, 1)
matmul(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k, int64_t tiles_m, int64_t tiles_n) {
    extern __shared__ __align__(128) unsigned char memory[];
    Stage* stages = reinterpret_cast<Stage*>(memory);
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const int64_t first = blockIdx.x / (kGroup * tiles_n) * kGroup;
    const int64_t group = tiles_m - first < kGroup ? tiles_m - first : kGroup;
    const int64_t within = blockIdx.x % (kGroup * tiles_n);
    const int64_t row0 = (first + within % group) * kTileM, column0 = within / group * kTileN;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * kDown * 16, warp_column = warp % 4 * kAcross * 8;

    const int64_t steps = (k + kDepth - 1) / kDepth;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            Stage& stage = stages[step % kStages];
            copy_tile<kChunks>(stage.left, a, row0, step * kDepth, m, k);
            copy_tile<kChunks>(stage.right, b, step * kDepth, column0, k, n);
        }
        __pipeline_commit();  // an empty one, too: the wait below counts them
    };

    float sums[kDown][kAcross][4] = {};
    for (int step = 0; step < kStages - 1; ++step) copy(step);
    for (int64_t step = 0; step < steps; ++step) {
        __pipeline_wait_prior(kStages - 2);  // this thread's copies of the step have arrived,
        __syncthreads();                     // and all others'; and nobody reads the stage that is filled next
        copy(step + kStages - 1);
        const Stage& stage = stages[step % kStages];
#pragma unroll
        for (int d = 0; d < kDepth; d += 16) {
            unsigned mine[kDown][4];
#pragma unroll
            for (int i = 0; i < kDown; ++i) {
                const int row = warp_row + i * 16 + lane % 16;
                load_pieces<false>(mine[i], &stage.left[row][chunk_at<kDepth>(row, d / kChunk + lane / 16)]);
            }
#pragma unroll
            for (int j = 0; j < kAcross; j += 2) {
                unsigned theirs[4];  // two words of each of 8 columns, then of the next 8
                const int row = d + lane % 16, chunk = (warp_column + j * 8) / kChunk + lane / 16;
                load_pieces<true>(theirs, &stage.right[row][chunk_at<kTileN>(row, chunk)]);
#pragma unroll
                for (int i = 0; i < kDown; ++i) {
                    multiply(sums[i][j], mine[i], theirs[0], theirs[1]);
                    multiply(sums[i][j + 1], mine[i], theirs[2], theirs[3]);
                }
            }
        }
    }
    __pipeline_wait_prior(0);

    // A lane has two neighbours in a row of each piece, and two more eight rows below.
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = row0 + warp_row + i * 16 + half * 8 + lane / 4;
            if (row >= m) continue;
            __half* to = out + row * n;
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                const int64_t column = column0 + warp_column + j * 8 + lane % 4 * 2;
                const __half2 two = __floats2half2_rn(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
                if constexpr (kChunks) {
                    if (column < n) *reinterpret_cast<__half2*>(to + column) = two;
                } else {
                    if (column < n) to[column] = __low2half(two);
                    if (column + 1 < n) to[column + 1] = __high2half(two);
                }
            }
        }
}

template <bool kChunks>
static void launch(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    const int64_t tiles_m = (m + kTileM - 1) / kTileM, tiles_n = (n + kTileN - 1) / kTileN;
    constexpr int kShared = kStages * static_cast<int>(sizeof(Stage));
    cudaFuncSetAttribute(matmul<kChunks>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
    matmul<kChunks><<<static_cast<unsigned>(tiles_m * tiles_n), kThreads, kShared>>>(a, b, out, m, n, k, tiles_m, tiles_n);
}

extern "C" void solve(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    if (k % kChunk == 0 && n % kChunk == 0)
        launch<true>(a, b, out, m, n, k);
    else
        launch<false>(a, b, out, m, n, k);
}
