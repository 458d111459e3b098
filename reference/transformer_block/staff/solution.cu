// A transformer block in seven launches: norm, product for queries, keys and values, attention, product, norm and two
// products. GELU and the additions are the ends of products, so what they work on never leaves the registers.
//
// On Hopper, wgmma multiplies: four warps take 64 rows, and both factors come from shared memory. On other GPUs, mma.sync
// multiplies. Products and attention copy the next tiles to shared memory while one is multiplied.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kChunk = 8;      // elements in 16 bytes, the most that one copy moves; rows are whole chunks
constexpr int kThreads = 256;  // of every block

// ---- RMS norm: a row of up to 8192 elements is read once and kept in registers.

__device__ float squares_of(uint4 chunk) {
    const __half2* pairs = reinterpret_cast<const __half2*>(&chunk);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 two = __half22float2(pairs[i]);
        sum += two.x * two.x + two.y * two.y;
    }
    return sum;
}

__device__ uint4 scaled(uint4 chunk, float factor, uint4 gamma) {
    __half2* pairs = reinterpret_cast<__half2*>(&chunk);
    const __half2* scales = reinterpret_cast<const __half2*>(&gamma);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 two = __half22float2(pairs[i]), scale = __half22float2(scales[i]);
        pairs[i] = __floats2half2_rn(two.x * factor * scale.x, two.y * factor * scale.y);
    }
    return chunk;
}

// The sum over the threads of a row. To be called once: a second call would need a barrier ahead of it, as somebody may
// still be reading the parts.
template <int kRowThreads>
__device__ float row_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    if constexpr (kRowThreads > 32) {
        constexpr int kWarps = kRowThreads / 32;
        __shared__ float parts[kWarps];
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = parts[threadIdx.x % kWarps];
        for (int offset = kWarps / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    }
    return value;
}

// kRowThreads: 32, and a block has several rows, or all threads of the block. chunks: of a row.
template <int kRowThreads, int kKept>
__global__ void __launch_bounds__(kThreads)
norm(const uint4* x, const uint4* gamma, uint4* out, float eps, int64_t rows, int chunks) {
    const int64_t row = blockIdx.x * static_cast<int64_t>(kThreads / kRowThreads) + threadIdx.x / kRowThreads;
    if (row >= rows) return;  // a whole warp: no barrier follows then
    const int thread = threadIdx.x % kRowThreads;
    uint4 kept[kKept];  // all loads are on their way before the first is waited for
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
        const int chunk = i * kRowThreads + thread;
        kept[i] = chunk < chunks ? x[row * chunks + chunk] : uint4{};
    }
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kKept; ++i) squares += squares_of(kept[i]);
    const float factor = rsqrtf(row_sum<kRowThreads>(squares) / (chunks * kChunk) + eps);
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
        const int chunk = i * kRowThreads + thread;
        if (chunk < chunks) out[row * chunks + chunk] = scaled(kept[i], factor, gamma[chunk]);
    }
}

// Rows that do not fit into registers are read twice.
__global__ void __launch_bounds__(kThreads)
norm_long(const uint4* x, const uint4* gamma, uint4* out, float eps, int64_t chunks) {
    const uint4* row = x + blockIdx.x * chunks;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < chunks; i += kThreads) squares += squares_of(row[i]);
    const float factor = rsqrtf(row_sum<kThreads>(squares) / (chunks * kChunk) + eps);
    for (int64_t i = threadIdx.x; i < chunks; i += kThreads)
        out[blockIdx.x * chunks + i] = scaled(row[i], factor, gamma[i]);
}

// ---- Tensor cores.

// Four pieces of 8 x 8 elements: each lane has the address of a row. Lane l gets elements 2 * (l % 4) and the next of row
// l / 4 of each piece; of column l / 4 if they are transposed.
__device__ void load_pieces(unsigned (&words)[4], const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))) : "memory");
}

__device__ void load_transposed(unsigned (&words)[4], const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))) : "memory");
}

// sums[16 x 8] += left[16 x 16] * right[16 x 8], with sums in float32.
__device__ void multiply(float* sums, const unsigned (&left)[4], unsigned right0, unsigned right1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

constexpr int kPart = 64;  // columns of a tile that lie together on Hopper: a row of 128 bytes

// Where wgmma finds a factor in shared memory, in parts whose chunks are swapped as chunk_at does: a swizzle of 128 bytes.
// leading: bytes from a part to the next.
__device__ uint64_t described(const __half* at, uint64_t leading) {
    constexpr uint64_t kSwizzle128 = 1, kStride = 8 * kPart * sizeof(__half);
    const uint64_t address = __cvta_generic_to_shared(at);
    return (address >> 4 & 0x3fff) | leading >> 4 << 16 | kStride >> 4 << 32 | kSwizzle128 << 62;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

// sums[64 x N] += left[64 x 16] * right[16 x N] of four warps, in the background. Rows of left lie along k, rows of right
// along n: the last two numbers say so.
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

__device__ void multiply_wide(float (&sums)[64], uint64_t left, uint64_t right) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 1;"
        : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
        : "l"(left), "l"(right));
}

// sums[64 x 128] = left[64 x 16] * right[16 x 128], + sums if `adds`, of four warps in the background. Rows of left and
// columns of right lie along k.
__device__ void multiply_keys(float (&sums)[64], uint64_t left, uint64_t right, int adds) {
    asm volatile(
        "{ .reg .pred adds; setp.ne.b32 adds, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, adds, 1, 1, 0, 0; }"
        : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
        : "l"(left), "l"(right), "r"(adds));
}

// sums[64 x 128] += left[64 x 16] * right[16 x 128]: left in registers, rows of right along n.
__device__ void multiply_values(float (&sums)[64], const unsigned (&left)[4], uint64_t right) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
        : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

__device__ void multiply_values(float (&sums)[32], const unsigned (&left)[4], uint64_t right) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
        : SUMS_16(0), SUMS_16(16)
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

__device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void end_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
#endif

// ---- Products: out[m, n] = a[m, k] * b[k, n], a tile of 128 x 256 or 128 x 128 a block.

enum class End { kPlain, kGelu, kAdd };

constexpr int kTileM = 128;
constexpr int kStages = 4;
constexpr int64_t kGroup = 16;  // rows of tiles that share columns of b in the L2 cache

__device__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

// Two neighbours of a result.
template <End kEnd>
__device__ void store(__half* out, const __half* added, int64_t at, float low, float high) {
    if constexpr (kEnd == End::kGelu) low = gelu(low), high = gelu(high);
    if constexpr (kEnd == End::kAdd) {
        const float2 two = __half22float2(*reinterpret_cast<const __half2*>(added + at));
        low += two.x, high += two.y;
    }
    *reinterpret_cast<__half2*>(out + at) = __floats2half2_rn(low, high);
}

// The first element of a chunk of a row of a tile. ldmatrix reads the same chunk of eight rows at once: in their own order
// they would share a few banks.
template <int kWidth>
__device__ int chunk_at(int row, int chunk) {
    // Two rows of 32 elements fill all banks once, a longer one alone does.
    return (chunk ^ (kWidth == 32 ? row / 2 % 4 : row % 8)) * kChunk;
}

// A tile of a matrix whose rows are `pitch` apart, copied in the background; what is beyond `rows` and `columns` is 0.
template <int kRows, int kWidth>
__device__ void copy_tile(__half (&to)[kRows][kWidth], const __half* from, int64_t rows, int64_t columns, int64_t pitch) {
#pragma unroll
    for (int i = 0; i < kRows * kWidth / kChunk / kThreads; ++i) {
        const int piece = threadIdx.x + i * kThreads, row = piece / (kWidth / kChunk), chunk = piece % (kWidth / kChunk);
        const bool inside = row < rows && chunk * kChunk < columns;
        // The last argument is how many of the 16 bytes are to be zeros instead of copied.
        __pipeline_memcpy_async(&to[row][chunk_at<kWidth>(row, chunk)],
                                inside ? from + row * pitch + chunk * kChunk : from, 16, inside ? 0 : 16);
    }
}

struct Product {
    const __half *a, *b, *added;
    __half* out;
    int64_t m, n, k, tiles_m, tiles_n;
};

struct Corner {
    int64_t row, column;
};

// Down a group of rows of tiles first. The grid is one-dimensional: its limit is 2^31 - 1 blocks, the other dimensions end
// at 65535.
__device__ Corner corner_of(const Product& p, int tile_n) {
    const int64_t first = blockIdx.x / (kGroup * p.tiles_n) * kGroup;
    const int64_t group = p.tiles_m - first < kGroup ? p.tiles_m - first : kGroup;
    const int64_t within = blockIdx.x % (kGroup * p.tiles_n);
    return {(first + within % group) * kTileM, within / group * tile_n};
}

constexpr int kDepth = 32;                 // how far along k per step
constexpr int kDown = 4, kAcross = 8;      // a warp has 4 x 8 pieces of 16 x 8 elements; warps are 2 down and 4 across
constexpr int kTileN = 4 * kAcross * 8;

struct Stage {
    __half left[kTileM][kDepth];
    __half right[kDepth][kTileN];
};

template <End kEnd>
__global__ void __launch_bounds__(kThreads, 1)
multiply_tiles(Product p) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Stage* stages = reinterpret_cast<Stage*>(memory);
    const Corner corner = corner_of(p, kTileN);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * kDown * 16, warp_column = warp % 4 * kAcross * 8;

    const int64_t steps = (p.k + kDepth - 1) / kDepth;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            Stage& stage = stages[step % kStages];
            const int64_t at = step * kDepth;
            copy_tile(stage.left, p.a + corner.row * p.k + at, p.m - corner.row, p.k - at, p.k);
            copy_tile(stage.right, p.b + at * p.n + corner.column, p.k - at, p.n - corner.column, p.n);
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
                load_pieces(mine[i], &stage.left[row][chunk_at<kDepth>(row, d / kChunk + lane / 16)]);
            }
#pragma unroll
            for (int j = 0; j < kAcross; j += 2) {
                unsigned theirs[4];  // two words of each of 8 columns, then of the next 8
                const int row = d + lane % 16, chunk = (warp_column + j * 8) / kChunk + lane / 16;
                load_transposed(theirs, &stage.right[row][chunk_at<kTileN>(row, chunk)]);
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
            const int64_t row = corner.row + warp_row + i * 16 + half * 8 + lane / 4;
            if (row >= p.m) continue;
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                const int64_t column = corner.column + warp_column + j * 8 + lane % 4 * 2;
                if (column < p.n)
                    store<kEnd>(p.out, p.added, row * p.n + column, sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
            }
        }
}

template <int kWide>
struct WideStage {
    __half left[kTileM][kPart];
    __half right[kWide / kPart][kPart][kPart];
};

// kWide: columns of a tile.
template <End kEnd, int kWide>
__global__ void __launch_bounds__(kThreads, 1)
multiply_wide_tiles(Product p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char memory[];
    using Step = WideStage<kWide>;
    Step* stages = reinterpret_cast<Step*>(memory);
    const Corner corner = corner_of(p, kWide);
    const int group = threadIdx.x / 128;  // its rows of the tile: 64 * group and the next 63

    // Steps on their way: one stage is multiplied, and the one before may still be read by the other four warps.
    constexpr int kAhead = kStages - 2;
    const int64_t steps = (p.k + kPart - 1) / kPart;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            Step& stage = stages[step % kStages];
            const int64_t at = step * kPart;
            copy_tile(stage.left, p.a + corner.row * p.k + at, p.m - corner.row, p.k - at, p.k);
#pragma unroll
            for (int part = 0; part < kWide / kPart; ++part) {
                const int64_t column = corner.column + part * kPart;
                // A part beyond the last column has no address in b.
                copy_tile(stage.right[part], p.b + (column < p.n ? at * p.n + column : 0), p.k - at, p.n - column, p.n);
            }
        }
        __pipeline_commit();  // an empty one, too: the wait below counts them
    };

    float sums[kWide / 2] = {};
    for (int step = 0; step < kAhead; ++step) copy(step);
    for (int64_t step = 0; step < steps; ++step) {
        __pipeline_wait_prior(kAhead - 1);                            // this thread's copies of the step have arrived,
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma will see them,
        __syncthreads();                                              // and all others'
        Step& stage = stages[step % kStages];
        begin_products();
#pragma unroll
        for (int d = 0; d < kPart; d += 16)
            multiply_wide(sums, described(&stage.left[group * 64][d], 16),
                          described(stage.right[0][d], sizeof(stage.right[0])));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        copy(step + kAhead);  // into the stage of the step before the last, which all have left
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the last step's products are done
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __pipeline_wait_prior(0);

    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int64_t row = corner.row + threadIdx.x / 32 * 16 + half * 8 + lane / 4;
        if (row >= p.m) continue;
#pragma unroll
        for (int j = 0; j < kWide / 8; ++j) {
            const int64_t column = corner.column + j * 8 + lane % 4 * 2;
            if (column < p.n)
                store<kEnd>(p.out, p.added, row * p.n + column, sums[j * 4 + half * 2], sums[j * 4 + half * 2 + 1]);
        }
    }
#else
    __trap();  // compiled without Hopper's own instructions: nobody launches it
#endif
}

// ---- Causal attention: one pass over the keys, scores never leave the registers.
//
// All of a block walk through the keys up to its last query, a tile at a time. Each query belongs to four lanes, which keep
// the highest score so far, the sum of exp(score - highest), and the weighted sum of values. When a higher score turns up,
// both sums shrink by exp(old - new).

constexpr int kRows = 16;                      // queries of a warp
constexpr int kQueries = kThreads / 32 * kRows;
constexpr float kLog2E = 1.4426950408889634f;  // exp(x) = 2^(x * log2(e)): powers of 2 are what hardware has

template <int kCount, int kWidth>
using Tile = __half[kWidth / kPart][kCount][kPart];

template <int kWidth, int kKeys>
struct Shared {
    Tile<kQueries, kWidth> queries;
    Tile<kKeys, kWidth> keys[2], values[2];  // one is used while the other is filled
};

template <int kCount, int kParts>
__device__ const __half* chunk_of(const __half (&tile)[kParts][kCount][kPart], int row, int chunk) {
    return &tile[chunk / 8][row][chunk_at<kPart>(row, chunk % 8)];
}

template <int kCount, int kParts>
__device__ void copy_rows(__half (&tile)[kParts][kCount][kPart], const __half* from, int64_t rows, int dim, int64_t pitch) {
#pragma unroll
    for (int part = 0; part < kParts; ++part)
        copy_tile(tile[part], from + (part * kPart < dim ? part * kPart : 0), rows, dim - part * kPart, pitch);
}

struct Attention {
    const __half* qkv;
    __half* mixed;
    float factor;  // 1 / sqrt(dim) * log2(e)
    int64_t seq, heads, blocks;
    int dim;
};

// Where a block works. The last queries see most keys: they begin first, so that no long block is left over at the end.
struct Place {
    const __half *q, *k, *v;  // the head's columns of the sequence's first row
    __half* out;
    int64_t pitch, columns, first;  // from a row of qkv, and of out, to the next; the first query
};

__device__ Place place_of(const Attention& a) {
    const int64_t pair = blockIdx.x / a.blocks, sequence = pair / a.heads, head = pair % a.heads;
    const int64_t columns = a.heads * a.dim, pitch = 3 * columns;
    const __half* q = a.qkv + sequence * a.seq * pitch + head * a.dim;
    return {q, q + columns, q + 2 * columns, a.mixed + sequence * a.seq * columns + head * a.dim, pitch, columns,
            (a.blocks - 1 - blockIdx.x % a.blocks) * kQueries};
}

// Of the lane's two queries, 8 apart. Of each 8 keys or columns it has two neighbours in the first, then in the second.
struct Running {
    float highest[2] = {-INFINITY, -INFINITY}, total[2] = {};
};

// Turns the scores of a tile's keys, from `start` on, into weights, exp(score - highest), and shrinks what older tiles gave.
// mine: the lane's first query. masked: some query does not see all keys. factor is positive.
template <int kScores, int kResults>
__device__ void weigh(float (&scores)[kScores], Running& running, float (&result)[kResults], float factor, bool masked,
                      int64_t start, int64_t mine) {
    const int lane = threadIdx.x % 32;
    float higher[2] = {running.highest[0], running.highest[1]};
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
        float score = scores[i] * factor;
        if (masked && start + i / 4 * 8 + lane % 4 * 2 + i % 2 > mine + i / 2 % 2 * 8) score = -INFINITY;
        scores[i] = score;
        higher[i / 2 % 2] = fmaxf(higher[i / 2 % 2], score);
    }
    float shrink[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        higher[half] = fmaxf(higher[half], __shfl_xor_sync(0xffffffffu, higher[half], 1));
        higher[half] = fmaxf(higher[half], __shfl_xor_sync(0xffffffffu, higher[half], 2));
        shrink[half] = exp2f(running.highest[half] - higher[half]);
        running.highest[half] = higher[half];
        running.total[half] *= shrink[half];
    }
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
        scores[i] = exp2f(scores[i] - higher[i / 2 % 2]);
        running.total[i / 2 % 2] += scores[i];  // of this lane's keys; the four lanes meet at the end
    }
#pragma unroll
    for (int i = 0; i < kResults; ++i) result[i] *= shrink[i / 2 % 2];
}

// A lane has the weights of 16 keys that it needs as the left side of the next product. They are between 0 and 1: safe in
// float16.
__device__ void pack(unsigned (&left)[4], const float* weights) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const __half2 two = __floats2half2_rn(weights[i * 2], weights[i * 2 + 1]);
        left[i] = *reinterpret_cast<const unsigned*>(&two);
    }
}

template <int kResults>
__device__ void finish(const float (&result)[kResults], Running& running, const Place& place, int64_t mine, int64_t seq,
                       int dim) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float total = running.total[half];
        total += __shfl_xor_sync(0xffffffffu, total, 1);
        total += __shfl_xor_sync(0xffffffffu, total, 2);
        const int64_t query = mine + half * 8;
        if (query >= seq) continue;
#pragma unroll
        for (int d = 0; d < kResults / 4; ++d) {
            const int column = d * 8 + threadIdx.x % 4 * 2;
            if (column < dim)
                *reinterpret_cast<__half2*>(place.out + query * place.columns + column) =
                    __floats2half2_rn(result[d * 4 + half * 2] / total, result[d * 4 + half * 2 + 1] / total);
        }
    }
}

// kWidth: dim, rounded up to what was compiled.
template <int kWidth>
__global__ void __launch_bounds__(kThreads, 1)
attend(Attention a) {
    constexpr int kKeys = 64;
    extern __shared__ __align__(1024) unsigned char memory[];
    auto& shared = *reinterpret_cast<Shared<kWidth, kKeys>*>(memory);
    const Place place = place_of(a);
    const int64_t first = place.first;
    const int lane = threadIdx.x % 32, top = threadIdx.x / 32 * kRows;  // top: the warp's first query of the block
    const int64_t mine = first + top + lane / 4;  // the lane's queries are this and the one 8 after it

    const int64_t end = first + kQueries < a.seq ? first + kQueries : a.seq;
    const int64_t tiles = (end + kKeys - 1) / kKeys;
    const auto copy = [&](int64_t tile) {
        const int64_t start = tile * kKeys;
        copy_rows(shared.keys[tile % 2], place.k + start * place.pitch, a.seq - start, a.dim, place.pitch);
        copy_rows(shared.values[tile % 2], place.v + start * place.pitch, a.seq - start, a.dim, place.pitch);
        __pipeline_commit();
    };
    copy_rows(shared.queries, place.q + first * place.pitch, a.seq - first, a.dim, place.pitch);
    copy(0);

    unsigned held[kWidth / 16][4];  // the queries
    Running running;
    float result[kWidth / 2] = {};
    for (int64_t tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) copy(tile + 1);
        // All copies of this thread but the newest have arrived, or simply all in the last step;
        __pipeline_wait_prior(tile + 1 < tiles ? 1 : 0);
        __syncthreads();  // and so have those of all other threads.
        if (tile == 0) {
#pragma unroll
            for (int d = 0; d < kWidth / 16; ++d)
                load_pieces(held[d], chunk_of(shared.queries, top + lane % 16, d * 2 + lane / 16));
        }
        const int64_t start = tile * kKeys;
        if (start <= first + top + kRows - 1) {  // else no query of the warp sees any of these keys
            const auto& keys = shared.keys[tile % 2];
            const auto& values = shared.values[tile % 2];
            float scores[kKeys / 2] = {};
#pragma unroll
            for (int d = 0; d < kWidth / 16; ++d)
#pragma unroll
                for (int j = 0; j < kKeys / 8; j += 2) {
                    unsigned right[4];  // two words of each of 8 keys, then of the next 8
                    load_pieces(right, chunk_of(keys, j * 8 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2));
                    multiply(&scores[j * 4], held[d], right[0], right[1]);
                    multiply(&scores[j * 4 + 4], held[d], right[2], right[3]);
                }
            weigh(scores, running, result, a.factor, start + kKeys - 1 > first + top, start, mine);
#pragma unroll
            for (int j = 0; j < kKeys / 8; j += 2) {
                unsigned left[4];
                pack(left, &scores[j * 4]);
#pragma unroll
                for (int d = 0; d < kWidth / 8; d += 2) {
                    unsigned right[4];  // two words of each of 8 columns, then of the next 8
                    load_transposed(right, chunk_of(values, j * 8 + lane % 16, d + lane / 16));
                    multiply(&result[d * 4], left, right[0], right[1]);
                    multiply(&result[d * 4 + 4], left, right[2], right[3]);
                }
            }
        }
        __syncthreads();  // nobody may fill this tile again while someone still reads it
    }
    finish(result, running, place, mine, a.seq, a.dim);
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads, 1)
attend_wide(Attention a) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int kKeys = 128;
    extern __shared__ __align__(1024) unsigned char memory[];
    auto& shared = *reinterpret_cast<Shared<kWidth, kKeys>*>(memory);
    const Place place = place_of(a);
    const int64_t first = place.first;
    const int lane = threadIdx.x % 32, group = threadIdx.x / 128 * 64;  // group: the four warps' first query of the block
    const int64_t mine = first + threadIdx.x / 32 * kRows + lane / 4;

    const int64_t end = first + kQueries < a.seq ? first + kQueries : a.seq;
    const int64_t tiles = (end + kKeys - 1) / kKeys;
    const auto copy = [&](int64_t tile) {
        const int64_t start = tile * kKeys;
        copy_rows(shared.keys[tile % 2], place.k + start * place.pitch, a.seq - start, a.dim, place.pitch);
        copy_rows(shared.values[tile % 2], place.v + start * place.pitch, a.seq - start, a.dim, place.pitch);
        __pipeline_commit();
    };
    copy_rows(shared.queries, place.q + first * place.pitch, a.seq - first, a.dim, place.pitch);
    copy(0);

    Running running;
    float result[kWidth / 2] = {};
    for (int64_t tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) copy(tile + 1);
        __pipeline_wait_prior(tile + 1 < tiles ? 1 : 0);              // this thread's copies have arrived,
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma will see them,
        __syncthreads();                                              // and all others'
        const auto& keys = shared.keys[tile % 2];
        const auto& values = shared.values[tile % 2];
        float scores[kKeys / 2];
        begin_products();
#pragma unroll
        for (int d = 0; d < kWidth; d += 16)
            multiply_keys(scores, described(&shared.queries[d / kPart][group][d % kPart], 16),
                          described(&keys[d / kPart][0][d % kPart], 16), d > 0);
        end_products();
        const int64_t start = tile * kKeys;
        weigh(scores, running, result, a.factor, start + kKeys - 1 > first + group, start, mine);
        unsigned left[kKeys / 16][4];
#pragma unroll
        for (int j = 0; j < kKeys / 16; ++j) pack(left[j], &scores[j * 8]);
        begin_products();
#pragma unroll
        for (int j = 0; j < kKeys / 16; ++j)
            multiply_values(result, left[j], described(values[0][j * 16], sizeof(values[0])));
        end_products();
        __syncthreads();  // nobody may fill this tile again while someone still reads it
    }
    finish(result, running, place, mine, a.seq, a.dim);
#else
    __trap();  // compiled without Hopper's own instructions: nobody launches it
#endif
}

// ---- Launches.

static int attribute(cudaDeviceAttr name) {
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, name, device);
    return value;
}

static bool is_hopper() { return attribute(cudaDevAttrComputeCapabilityMajor) == 9; }

template <typename Kernel, typename Argument>
static void launch(Kernel kernel, int64_t blocks, size_t shared, const Argument& argument) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    kernel<<<static_cast<unsigned>(blocks), kThreads, shared>>>(argument);
}

static void launch_norm(const __half* x, const __half* gamma, __half* out, float eps, int64_t rows, int64_t columns) {
    const uint4* from = reinterpret_cast<const uint4*>(x);
    const uint4* scales = reinterpret_cast<const uint4*>(gamma);
    uint4* to = reinterpret_cast<uint4*>(out);
    const int64_t chunks = columns / kChunk;
    const unsigned blocks = static_cast<unsigned>(rows), few = static_cast<unsigned>((rows + 7) / 8);
    const int of_row = static_cast<int>(chunks);
    if (chunks <= 32)
        norm<32, 1><<<few, kThreads>>>(from, scales, to, eps, rows, of_row);
    else if (chunks <= 128)
        norm<32, 4><<<few, kThreads>>>(from, scales, to, eps, rows, of_row);
    else if (chunks <= 256)
        norm<kThreads, 1><<<blocks, kThreads>>>(from, scales, to, eps, rows, of_row);
    else if (chunks <= 1024)
        norm<kThreads, 4><<<blocks, kThreads>>>(from, scales, to, eps, rows, of_row);
    else
        norm_long<<<blocks, kThreads>>>(from, scales, to, eps, chunks);
}

template <End kEnd>
static void launch_product(const __half* a, const __half* b, const __half* added, __half* out, int64_t m, int64_t n,
                           int64_t k) {
    const int64_t down = (m + kTileM - 1) / kTileM, wide = (n + 255) / 256, narrow = (n + 127) / 128;
    Product product{a, b, added, out, m, n, k, down, wide};
    if (!is_hopper()) return launch(multiply_tiles<kEnd>, down * wide, kStages * sizeof(Stage), product);
    // How long the last multiprocessor works. Narrow tiles load more for each product, which costs them a tenth.
    const int64_t sms = attribute(cudaDevAttrMultiProcessorCount);
    const int64_t of_wide = 20 * ((down * wide + sms - 1) / sms), of_narrow = 11 * ((down * narrow + sms - 1) / sms);
    if (of_wide <= of_narrow)
        return launch(multiply_wide_tiles<kEnd, 256>, down * wide, kStages * sizeof(WideStage<256>), product);
    product.tiles_n = narrow;
    launch(multiply_wide_tiles<kEnd, 128>, down * narrow, kStages * sizeof(WideStage<128>), product);
}

template <int kWidth>
static void launch_attention(const Attention& attention, int64_t blocks) {
    if (is_hopper())
        launch(attend_wide<kWidth>, blocks, sizeof(Shared<kWidth, 128>), attention);
    else
        launch(attend<kWidth>, blocks, sizeof(Shared<kWidth, 64>), attention);
}

extern "C" void solve(const __half* x, const __half* gamma_1, const __half* w_qkv, const __half* w_out,
                      const __half* gamma_2, const __half* w_up, const __half* w_down, __half* out, __half* normed,
                      __half* qkv, __half* mixed, __half* middle, __half* raised, float eps, int64_t batch, int64_t seq,
                      int64_t heads, int64_t dim, int64_t hidden) {
    const int64_t rows = batch * seq, columns = heads * dim, blocks = (seq + kQueries - 1) / kQueries;
    if (rows == 0 || columns == 0) return;  // out is empty
    launch_norm(x, gamma_1, normed, eps, rows, columns);
    launch_product<End::kPlain>(normed, w_qkv, nullptr, qkv, rows, 3 * columns, columns);
    const float factor = kLog2E / std::sqrt(static_cast<float>(dim));
    const Attention attention{qkv, mixed, factor, seq, heads, blocks, static_cast<int>(dim)};
    dim <= 64 ? launch_attention<64>(attention, blocks * batch * heads)
              : launch_attention<128>(attention, blocks * batch * heads);
    launch_product<End::kAdd>(mixed, w_out, x, middle, rows, columns, columns);
    launch_norm(middle, gamma_2, normed, eps, rows, columns);
    if (hidden > 0) launch_product<End::kGelu>(normed, w_up, nullptr, raised, rows, hidden, columns);
    // Without hidden columns the sums are empty, and out is middle.
    launch_product<End::kAdd>(raised, w_down, middle, out, rows, columns, hidden);
}
