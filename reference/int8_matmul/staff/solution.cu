// Matrix multiplication of int8 on tensor cores (mma.sync): a block computes a 128 x 256 tile of out, each of its eight
// warps 64 x 64 of it. Tensor cores want words of four neighbours along k. Rows of a have them; b is transposed first, so
// that its columns have them, too. Three steps along k are on their way to shared memory while one is multiplied.
#include <cstdint>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kTileM = 128, kTileN = 256;  // rows and columns of out per block
constexpr int kDepth = 64;                 // bytes along k per step
constexpr int kStages = 4;
constexpr int kThreads = 256;              // eight warps, 2 down and 4 across
constexpr int kDown = 4;                   // pieces of 16 rows of a warp's part of out,
constexpr int kAcross = 8;                 // and of 8 columns
constexpr int kChunk = 16;                 // bytes, the most that one copy moves
constexpr int kChunks = kDepth / kChunk;   // of a row of a tile
constexpr int64_t kGroup = 16;             // rows of tiles that share columns of b in the L2 cache

struct Stage {
    int8_t left[kTileM][kDepth];
    int8_t right[kTileN][kDepth];  // columns of b
};

// Where a chunk of a row of a tile is. Rows are 64 bytes long, so without this eight rows' chunks would share two
// groups of banks.
__device__ int chunk_at(int row, int chunk) { return (chunk ^ (row / 2 % kChunks)) * kChunk; }

// Rows `first` to `first + kRows - 1` of a matrix of `rows` rows of `width` bytes, from byte `start` on. What is
// outside is 0. width is a multiple of 16, so a chunk is inside or outside as a whole.
template <int kRows>
__device__ void copy_tile(int8_t (&to)[kRows][kDepth], const int8_t* matrix, int64_t first, int64_t start,
                          int64_t rows, int64_t width) {
#pragma unroll
    for (int i = 0; i < kRows * kChunks / kThreads; ++i) {
        const int piece = threadIdx.x + i * kThreads, row = piece / kChunks, chunk = piece % kChunks;
        const int64_t at = start + chunk * kChunk;
        const bool inside = first + row < rows && at < width;
        // The last argument is how many of the 16 bytes are to be zeros instead of copied.
        __pipeline_memcpy_async(&to[row][chunk_at(row, chunk)], inside ? matrix + (first + row) * width + at : matrix,
                                kChunk, inside ? 0 : kChunk);
    }
}

// Four pieces of 8 rows of 16 bytes: each lane has the address of a row. Lane l gets word l % 4 of row l / 4 of each.
__device__ void load_pieces(unsigned (&words)[4], const int8_t* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
}

// sums[16 x 8] += left[16 x 32] * right[32 x 8], exactly.
__device__ void multiply(int (&sums)[4], const unsigned (&left)[4], unsigned right0, unsigned right1) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

// a: m rows of width bytes. columns: n rows of width bytes, which are b's columns.
__global__ void __launch_bounds__(kThreads, 1)
matmul(const int8_t* __restrict__ a, const int8_t* __restrict__ columns, const float* __restrict__ row_scale,
       const float* __restrict__ col_scale, float* __restrict__ out, int64_t m, int64_t n, int64_t width,
       int64_t tiles_m, int64_t tiles_n) {
    extern __shared__ __align__(128) unsigned char memory[];
    Stage* stages = reinterpret_cast<Stage*>(memory);
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const int64_t first = blockIdx.x / (kGroup * tiles_n) * kGroup;
    const int64_t group = tiles_m - first < kGroup ? tiles_m - first : kGroup;
    const int64_t within = blockIdx.x % (kGroup * tiles_n);
    const int64_t row0 = (first + within % group) * kTileM, column0 = within / group * kTileN;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * kDown * 16, warp_column = warp % 4 * kAcross * 8;

    const int64_t steps = (width + kDepth - 1) / kDepth;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            Stage& stage = stages[step % kStages];
            copy_tile(stage.left, a, row0, step * kDepth, m, width);
            copy_tile(stage.right, columns, column0, step * kDepth, n, width);
        }
        __pipeline_commit();  // an empty one, too: the wait below counts them
    };

    int sums[kDown][kAcross][4] = {};
    for (int step = 0; step < kStages - 1; ++step) copy(step);
    for (int64_t step = 0; step < steps; ++step) {
        __pipeline_wait_prior(kStages - 2);  // this thread's copies of the step have arrived,
        __syncthreads();                     // and all others'; and nobody reads the stage that is filled next
        copy(step + kStages - 1);
        const Stage& stage = stages[step % kStages];
#pragma unroll
        for (int chunk = 0; chunk < kChunks; chunk += 2) {
            unsigned mine[kDown][4];
#pragma unroll
            for (int i = 0; i < kDown; ++i) {
                const int row = warp_row + i * 16 + lane % 16;
                load_pieces(mine[i], &stage.left[row][chunk_at(row, chunk + lane / 16)]);
            }
#pragma unroll
            for (int j = 0; j < kAcross; j += 2) {
                unsigned theirs[4];  // two words of each of 8 columns, then of the next 8
                const int row = warp_column + j * 8 + lane / 16 * 8 + lane % 8;
                load_pieces(theirs, &stage.right[row][chunk_at(row, chunk + lane / 8 % 2)]);
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
    const bool pairs = n % 2 == 0;  // each row begins at a multiple of 8 bytes
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = row0 + warp_row + i * 16 + half * 8 + lane / 4;
            if (row >= m) continue;
            const float scale = row_scale[row];
            float* to = out + row * n;
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                const int64_t column = column0 + warp_column + j * 8 + lane % 4 * 2;
                if (column >= n) continue;
                const float one = static_cast<float>(sums[i][j][half * 2]) * scale * col_scale[column];
                const float two =
                    column + 1 < n ? static_cast<float>(sums[i][j][half * 2 + 1]) * scale * col_scale[column + 1] : 0.0f;
                if (pairs) {
                    *reinterpret_cast<float2*>(to + column) = make_float2(one, two);
                } else {
                    to[column] = one;
                    if (column + 1 < n) to[column + 1] = two;
                }
            }
        }
}

// Four bytes from any place of an array, which begins at a multiple of 4 bytes: two aligned words, shifted. Nothing
// beyond the array's end is read.
__device__ unsigned word_at(const int8_t* array, int64_t place, int64_t size) {
    const int64_t aligned = place / 4 * 4;
    if (aligned + 8 <= size) {
        const unsigned* words = reinterpret_cast<const unsigned*>(array + aligned);
        return __funnelshift_r(words[0], words[1], static_cast<unsigned>(place % 4) * 8);
    }
    unsigned word = 0;
    for (int i = 0; i < 4; ++i)
        if (place + i < size) word |= static_cast<unsigned>(static_cast<uint8_t>(array[place + i])) << (8 * i);
    return word;
}

// A copy of a whose rows are `width` bytes long, a multiple of 16; the rest of each row is 0. A thread makes a chunk.
__global__ void __launch_bounds__(kThreads)
with_whole_chunks(const int8_t* a, int8_t* to, int64_t m, int64_t k, int64_t width) {
    const int64_t chunk = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x;
    if (chunk >= m * (width / kChunk)) return;
    const int64_t row = chunk / (width / kChunk), column = chunk % (width / kChunk) * kChunk;
    unsigned words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int64_t left = k - column - 4 * i;  // bytes of the row from here on
        words[i] = left <= 0 ? 0 : word_at(a, row * k + column + 4 * i, m * k);
        if (left > 0 && left < 4) words[i] &= (1u << (8 * left)) - 1;
    }
    *reinterpret_cast<uint4*>(to + chunk * kChunk) = make_uint4(words[0], words[1], words[2], words[3]);
}

constexpr int kSide = 64;  // of the squares in which b is transposed

// rows[r] holds bytes (r, 0) to (r, 3); the result's words hold bytes (0, c) to (3, c).
__device__ uint4 turned(const unsigned (&rows)[4]) {
    const unsigned low01 = __byte_perm(rows[0], rows[1], 0x5140), high01 = __byte_perm(rows[0], rows[1], 0x7362);
    const unsigned low23 = __byte_perm(rows[2], rows[3], 0x5140), high23 = __byte_perm(rows[2], rows[3], 0x7362);
    return make_uint4(__byte_perm(low01, low23, 0x5410), __byte_perm(low01, low23, 0x7632),
                      __byte_perm(high01, high23, 0x5410), __byte_perm(high01, high23, 0x7632));
}

// to: n rows of width bytes, b's columns; what follows their k bytes is 0. A block transposes a square of 64 x 64
// bytes, each thread 4 x 4 of it.
__global__ void __launch_bounds__(kThreads)
transposed(const int8_t* b, int8_t* to, int64_t k, int64_t n, int64_t width, int64_t squares_n) {
    __shared__ unsigned square[kSide][kSide / 4 + 1];  // by column of b, words of four rows of it; padded
    const int64_t row0 = blockIdx.x / squares_n * kSide, column0 = blockIdx.x % squares_n * kSide;
    const int quad = threadIdx.x / 16, column = threadIdx.x % 16 * 4;
    unsigned rows[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const int64_t row = row0 + quad * 4 + r;
        rows[r] = row < k && column0 + column < n ? word_at(b, row * n + column0 + column, k * n) : 0;
    }
    const uint4 words = turned(rows);
    square[column][quad] = words.x;
    square[column + 1][quad] = words.y;
    square[column + 2][quad] = words.z;
    square[column + 3][quad] = words.w;
    __syncthreads();
    const int mine = threadIdx.x / 4, chunk = threadIdx.x % 4;
    const int64_t at = row0 + chunk * kChunk;
    if (column0 + mine >= n || at >= width) return;
    const unsigned* from = &square[mine][chunk * 4];
    *reinterpret_cast<uint4*>(to + (column0 + mine) * width + at) = make_uint4(from[0], from[1], from[2], from[3]);
}

static int64_t ceil_div(int64_t count, int64_t size) { return (count + size - 1) / size; }

extern "C" void solve(const int8_t* a, const int8_t* b, const float* row_scale, const float* col_scale, float* out,
                      int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    const int64_t width = ceil_div(k, kChunk) * kChunk;
    int8_t *columns = nullptr, *copied = nullptr;
    if (k > 0) {
        if (cudaMallocAsync(reinterpret_cast<void**>(&columns), n * width, 0) != cudaSuccess) return;
        const int64_t squares_n = ceil_div(n, kSide), squares = squares_n * ceil_div(width, kSide);
        transposed<<<static_cast<unsigned>(squares), kThreads>>>(b, columns, k, n, width, squares_n);
        if (width != k) {
            if (cudaMallocAsync(reinterpret_cast<void**>(&copied), m * width, 0) != cudaSuccess) return;
            const int64_t blocks = ceil_div(m * (width / kChunk), kThreads);
            with_whole_chunks<<<static_cast<unsigned>(blocks), kThreads>>>(a, copied, m, k, width);
        }
    }
    const int64_t tiles_m = ceil_div(m, kTileM), tiles_n = ceil_div(n, kTileN);
    constexpr int kShared = kStages * static_cast<int>(sizeof(Stage));
    cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
    matmul<<<static_cast<unsigned>(tiles_m * tiles_n), kThreads, kShared>>>(
        copied ? copied : a, columns, row_scale, col_scale, out, m, n, width, tiles_m, tiles_n);
    if (columns) cudaFreeAsync(columns, 0);
    if (copied) cudaFreeAsync(copied, 0);
}
