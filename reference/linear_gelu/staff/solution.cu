// A linear layer with GELU on tensor cores: a block computes a 128 x 256 tile of out. The next steps along k are on their
// way to shared memory while one is multiplied. Bias and GELU are applied to the sums in registers, before the rounding.
//
// On Hopper, wgmma multiplies: four warps together compute 64 x 256, and both factors come from shared memory. On other
// GPUs, mma.sync multiplies: each of eight warps computes 64 x 64. Both copy 16 bytes at once: a matrix whose rows are no
// multiple of that is copied first, with zeros at the end of each row.
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
constexpr int64_t kGroup = 16;             // rows of tiles that share columns of w in the L2 cache

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

// A tile's part of a matrix, from `row0` and `column0` on, in the background; what is outside the matrix is 0. Rows are a
// multiple of a chunk long, so a chunk is inside or outside as a whole.
template <int kRows, int kWidth>
__device__ void copy_tile(__half (&to)[kRows][kWidth], const __half* matrix, int64_t row0, int64_t column0,
                          int64_t rows, int64_t columns) {
#pragma unroll
    for (int i = 0; i < kRows * kWidth / kChunk / kThreads; ++i) {
        const int piece = threadIdx.x + i * kThreads, row = piece / (kWidth / kChunk), chunk = piece % (kWidth / kChunk);
        __half* at = &to[row][chunk_at<kWidth>(row, chunk)];
        const int64_t column = column0 + chunk * kChunk;
        const bool inside = row0 + row < rows && column < columns;
        // The last argument is how many of the 16 bytes are to be zeros instead of copied.
        __pipeline_memcpy_async(at, inside ? matrix + (row0 + row) * columns + column : matrix, 16, inside ? 0 : 16);
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

struct Tile {
    int64_t row0, column0;
};

// Down a group of rows of tiles first. The grid is one-dimensional: its limit is 2^31 - 1 blocks, the other dimensions end
// at 65535.
__device__ Tile tile_of(int64_t tiles_m, int64_t tiles_n) {
    const int64_t first = blockIdx.x / (kGroup * tiles_n) * kGroup;
    const int64_t group = tiles_m - first < kGroup ? tiles_m - first : kGroup;
    const int64_t within = blockIdx.x % (kGroup * tiles_n);
    return {(first + within % group) * kTileM, within / group * kTileN};
}

struct Layer {
    const __half *x, *w, *bias;
    __half* out;
    int64_t m, n, k;
    int64_t x_width, w_width;  // of a row in memory: k and n, or the next multiple of a chunk
};

__device__ float gelu(float y) { return 0.5f * y * (1.0f + erff(y * 0.70710678f)); }

// A lane's part of two neighbouring columns. kPairs: n is even, so pairs are aligned, and inside or outside as a whole.
template <bool kPairs>
struct Columns {
    const Layer& layer;
    const int64_t column;
    float bias[2];

    __device__ Columns(const Layer& layer, int64_t column) : layer(layer), column(column), bias{} {
        if (column >= layer.n) return;
        if constexpr (kPairs) {
            const float2 two = __half22float2(*reinterpret_cast<const __half2*>(layer.bias + column));
            bias[0] = two.x, bias[1] = two.y;
        } else {
            bias[0] = __half2float(layer.bias[column]);
            if (column + 1 < layer.n) bias[1] = __half2float(layer.bias[column + 1]);
        }
    }

    __device__ void store(int64_t row, float low, float high) const {
        if (row >= layer.m || column >= layer.n) return;
        __half* at = layer.out + row * layer.n + column;
        const __half2 two = __floats2half2_rn(gelu(low + bias[0]), gelu(high + bias[1]));
        if constexpr (kPairs) {
            *reinterpret_cast<__half2*>(at) = two;
        } else {
            at[0] = __low2half(two);
            if (column + 1 < layer.n) at[1] = __high2half(two);
        }
    }
};

template <bool kPairs>
__global__ void __launch_bounds__(kThreads, 1) linear(Layer layer, int64_t tiles_m, int64_t tiles_n) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Stage* stages = reinterpret_cast<Stage*>(memory);
    const Tile tile = tile_of(tiles_m, tiles_n);
    const int64_t row0 = tile.row0, column0 = tile.column0;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * kDown * 16, warp_column = warp % 4 * kAcross * 8;

    const int64_t steps = (layer.k + kDepth - 1) / kDepth;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            Stage& stage = stages[step % kStages];
            copy_tile(stage.left, layer.x, row0, step * kDepth, layer.m, layer.x_width);
            copy_tile(stage.right, layer.w, step * kDepth, column0, layer.k, layer.w_width);
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
    for (int j = 0; j < kAcross; ++j) {
        const Columns<kPairs> columns(layer, column0 + warp_column + j * 8 + lane % 4 * 2);
#pragma unroll
        for (int i = 0; i < kDown; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                columns.store(row0 + warp_row + i * 16 + half * 8 + lane / 4, sums[i][j][half * 2],
                              sums[i][j][half * 2 + 1]);
    }
}

// Hopper: a step is 64 deep, so a row of a factor's tile is 128 bytes, and its chunks are swapped as chunk_at does: this is
// the layout that wgmma calls a swizzle of 128 bytes. The columns of w are in parts of 64.
constexpr int kWide = 64;

struct WideStage {
    __half left[kTileM][kWide];
    __half right[kTileN / kWide][kWide][kWide];
};

// Where wgmma finds a factor in shared memory. stride: bytes from 8 rows to the next 8; leading: from a part to the next.
__device__ uint64_t described(const __half* at, uint64_t leading, uint64_t stride) {
    constexpr uint64_t kSwizzle128 = 1;
    const uint64_t address = __cvta_generic_to_shared(at);
    return (address >> 4 & 0x3fff) | leading >> 4 << 16 | stride >> 4 << 32 | kSwizzle128 << 62;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

// sums[64 x 256] += left[64 x 16] * right[16 x 256] of four warps, in the background. Each row of left lies along k, each row
// of right along n: the last two numbers say so.
__device__ void multiply_wide(float (&sums)[128], uint64_t left, uint64_t right) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, 1, 1, 1, 0, 1;"
        : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48),
          SUMS_16(64), SUMS_16(80), SUMS_16(96), SUMS_16(112)
        : "l"(left), "l"(right));
}
#endif

template <bool kPairs>
__global__ void __launch_bounds__(kThreads, 1) linear_wide(Layer layer, int64_t tiles_m, int64_t tiles_n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char memory[];
    WideStage* stages = reinterpret_cast<WideStage*>(memory);
    const Tile tile = tile_of(tiles_m, tiles_n);
    const int group = threadIdx.x / 128;  // its rows of the tile: 64 * group and the next 63

    // Steps on their way: one stage is multiplied, and the one before may still be read by the other four warps.
    constexpr int kAhead = kStages - 2;
    const int64_t steps = (layer.k + kWide - 1) / kWide;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            WideStage& stage = stages[step % kStages];
            copy_tile(stage.left, layer.x, tile.row0, step * kWide, layer.m, layer.x_width);
#pragma unroll
            for (int part = 0; part < kTileN / kWide; ++part)
                copy_tile(stage.right[part], layer.w, step * kWide, tile.column0 + part * kWide, layer.k, layer.w_width);
        }
        __pipeline_commit();  // an empty one, too: the wait below counts them
    };

    float sums[128] = {};
    for (int step = 0; step < kAhead; ++step) copy(step);
    for (int64_t step = 0; step < steps; ++step) {
        __pipeline_wait_prior(kAhead - 1);                          // this thread's copies of the step have arrived,
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma will see them,
        __syncthreads();                                            // and all others'
        WideStage& stage = stages[step % kStages];
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int d = 0; d < kWide; d += 16)
            multiply_wide(sums, described(&stage.left[group * 64][d], 16, 8 * sizeof(stage.left[0])),
                          described(stage.right[0][d], sizeof(stage.right[0]), 8 * sizeof(stage.right[0][0])));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        copy(step + kAhead);  // into the stage of the step before the last, which all have left
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the last step's products are done
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __pipeline_wait_prior(0);

    const int lane = threadIdx.x % 32;
    const int64_t row = tile.row0 + threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < kTileN / 8; ++j) {
        const Columns<kPairs> columns(layer, tile.column0 + j * 8 + lane % 4 * 2);
        columns.store(row, sums[j * 4], sums[j * 4 + 1]);
        columns.store(row + 8, sums[j * 4 + 2], sums[j * 4 + 3]);
    }
#else
    __trap();  // compiled without Hopper's own instructions: solve does not call it
#endif
}

static bool is_hopper() {
    int device = 0, major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return major == 9;
}

// Copies a matrix to one whose rows are `wide` long, a multiple of a chunk, with zeros at their ends. A thread a chunk.
__global__ void __launch_bounds__(kThreads)
pad(const __half* from, __half* to, int64_t rows, int64_t columns, int64_t wide) {
    const int64_t chunk = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x, chunks = wide / kChunk;
    const int64_t row = chunk / chunks, column = chunk % chunks * kChunk;
    if (row >= rows) return;
    __align__(16) __half eight[kChunk];
#pragma unroll
    for (int i = 0; i < kChunk; ++i)
        eight[i] = column + i < columns ? from[row * columns + column + i] : __float2half(0.0f);
    *reinterpret_cast<uint4*>(to + row * wide + column) = *reinterpret_cast<const uint4*>(eight);
}

// Replaces a matrix whose rows are not `wide` long by a copy, which the caller frees. False without memory.
static bool pad_rows(const __half*& matrix, int64_t rows, int64_t columns, int64_t wide) {
    if (columns == wide || rows == 0) return true;
    __half* copy = nullptr;
    if (cudaMallocAsync(&copy, rows * wide * sizeof(__half), 0) != cudaSuccess) return false;
    const int64_t chunks = rows * (wide / kChunk);
    pad<<<static_cast<unsigned>((chunks + kThreads - 1) / kThreads), kThreads>>>(matrix, copy, rows, columns, wide);
    matrix = copy;
    return true;
}

template <typename Kernel>
static void launch(Kernel kernel, int shared, const Layer& layer) {
    const int64_t tiles_m = (layer.m + kTileM - 1) / kTileM, tiles_n = (layer.n + kTileN - 1) / kTileN;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    kernel<<<static_cast<unsigned>(tiles_m * tiles_n), kThreads, shared>>>(layer, tiles_m, tiles_n);
}

static int64_t whole_chunks(int64_t elements) { return (elements + kChunk - 1) / kChunk * kChunk; }

extern "C" void solve(const __half* x, const __half* w, const __half* bias, __half* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0, and bias and GELU follow
    Layer layer = {x, w, bias, out, m, n, k, whole_chunks(k), whole_chunks(n)};
    if (pad_rows(layer.x, m, k, layer.x_width) && pad_rows(layer.w, k, n, layer.w_width)) {
        constexpr int kShared = kStages * static_cast<int>(sizeof(Stage));
        constexpr int kWideShared = kStages * static_cast<int>(sizeof(WideStage));
        const bool pairs = n % 2 == 0;
        if (is_hopper())
            launch(pairs ? linear_wide<true> : linear_wide<false>, kWideShared, layer);
        else
            launch(pairs ? linear<true> : linear<false>, kShared, layer);
    }
    if (layer.x != x) cudaFreeAsync(const_cast<__half*>(layer.x), 0);
    if (layer.w != w) cudaFreeAsync(const_cast<__half*>(layer.w), 0);
}
