// Grouped products of float16 on tensor cores. The rows of out are cut into stripes of up to 128 rows, none of which has rows
// of two experts. A block computes 256 columns of a stripe. The next steps along k are on their way to shared memory while
// one is multiplied.
//
// How many stripes an expert has depends on offsets, which are on the GPU. So a first launch lists the stripes, and the host
// starts as many blocks as there could be: those without a stripe end at once.
//
// On Hopper, wgmma multiplies: four warps together compute 64 x 256, and both factors come from shared memory. On other
// GPUs, and if rows begin anywhere, mma.sync multiplies: each of eight warps computes 64 x 64.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kTileM = 128, kTileN = 256;  // rows of a stripe, and columns of it per block
constexpr int kDepth = 32;                 // how far along k per step
constexpr int kStages = 4;
constexpr int kThreads = 256;              // eight warps, 2 down and 4 across
constexpr int kDown = 4;                   // pieces of 16 rows of a warp's part of out,
constexpr int kAcross = 8;                 // and of 8 columns
constexpr int kPlanThreads = 512;
constexpr int kChunk = 8;                  // elements in 16 bytes, the most that one copy moves
constexpr int64_t kGroup = 16;             // stripes that share columns of weights in the L2 cache

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

// Up to kTileM rows of one expert: row0 to end - 1. Without rows: there is no such stripe.
struct Stripe {
    int64_t row0, end, expert;
};

// What all blocks know.
struct Problem {
    const __half *x, *w;
    __half* out;
    const Stripe* stripes;
    int64_t most;  // stripes in the list
    int64_t k, n, tiles_n;
};

struct Tile {
    Stripe stripe;
    int64_t column0;
};

// Down a group of stripes first. The grid is one-dimensional: its limit is 2^31 - 1 blocks, the other dimensions end at
// 65535.
__device__ Tile tile_of(const Problem& problem) {
    const int64_t first = blockIdx.x / (kGroup * problem.tiles_n) * kGroup;
    const int64_t group = problem.most - first < kGroup ? problem.most - first : kGroup;
    const int64_t within = blockIdx.x % (kGroup * problem.tiles_n);
    return {problem.stripes[first + within % group], within / group * kTileN};
}

__device__ int64_t stripes_of(int64_t rows) { return (rows + kTileM - 1) / kTileM; }

// stripes[most]: the stripes of all experts in order, then empty ones. begins[experts + 1]: each expert's first stripe.
__global__ void __launch_bounds__(kPlanThreads)
plan(const int64_t* offsets, int64_t experts, int64_t* begins, Stripe* stripes, int64_t most) {
    if (threadIdx.x < 32) {
        int64_t before = 0;
#pragma unroll 4
        for (int64_t first = 0; first < experts; first += 32) {
            const int64_t e = first + threadIdx.x;
            const int64_t own = e < experts ? stripes_of(offsets[e + 1] - offsets[e]) : 0;
            int64_t sum = own;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const int64_t below = __shfl_up_sync(~0u, sum, d);
                if (threadIdx.x >= d) sum += below;
            }
            if (e < experts) begins[e] = before + sum - own;
            before += __shfl_sync(~0u, sum, 31);
        }
        if (threadIdx.x == 0) begins[experts] = before;
    }
    __syncthreads();
    for (int64_t stripe = threadIdx.x; stripe < most; stripe += kPlanThreads) {
        if (stripe >= begins[experts]) {
            stripes[stripe] = {0, 0, 0};
            continue;
        }
        // The last expert whose first stripe is not behind this one. Experts without tokens begin where the next one does.
        int64_t low = 0, high = experts;
        while (high - low > 1) {
            const int64_t middle = (low + high) / 2;
            (begins[middle] <= stripe ? low : high) = middle;
        }
        const int64_t row0 = offsets[low] + (stripe - begins[low]) * kTileM, end = offsets[low + 1];
        stripes[stripe] = {row0, end < row0 + kTileM ? end : row0 + kTileM, low};
    }
}

// Two neighbours in a row, which begins at `row`.
template <bool kChunks>
__device__ void store(__half* row, int64_t column, int64_t n, float low, float high) {
    const __half2 two = __floats2half2_rn(low, high);
    if constexpr (kChunks) {
        if (column < n) *reinterpret_cast<__half2*>(row + column) = two;
    } else {
        if (column < n) row[column] = __low2half(two);
        if (column + 1 < n) row[column + 1] = __high2half(two);
    }
}

template <bool kChunks>
__global__ void __launch_bounds__(kThreads, 1) multiply_stripes(Problem problem) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Stage* stages = reinterpret_cast<Stage*>(memory);
    const Tile tile = tile_of(problem);
    const int64_t row0 = tile.stripe.row0, end = tile.stripe.end, column0 = tile.column0, k = problem.k, n = problem.n;
    if (row0 >= end) return;
    const __half* weights = problem.w + tile.stripe.expert * k * n;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * kDown * 16, warp_column = warp % 4 * kAcross * 8;

    const int64_t steps = (k + kDepth - 1) / kDepth;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            Stage& stage = stages[step % kStages];
            copy_tile<kChunks>(stage.left, problem.x, row0, step * kDepth, end, k);
            copy_tile<kChunks>(stage.right, weights, step * kDepth, column0, k, n);
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
            if (row >= end) continue;
#pragma unroll
            for (int j = 0; j < kAcross; ++j)
                store<kChunks>(problem.out + row * n, column0 + warp_column + j * 8 + lane % 4 * 2, n, sums[i][j][half * 2],
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

__global__ void __launch_bounds__(kThreads, 1) multiply_stripes_wide(Problem problem) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char memory[];
    WideStage* stages = reinterpret_cast<WideStage*>(memory);
    const Tile tile = tile_of(problem);
    const int64_t row0 = tile.stripe.row0, end = tile.stripe.end, k = problem.k, n = problem.n;
    if (row0 >= end) return;
    const __half* weights = problem.w + tile.stripe.expert * k * n;
    const int group = threadIdx.x / 128;  // its rows of the tile: 64 * group and the next 63

    // Steps on their way: one stage is multiplied, and the one before may still be read by the other four warps.
    constexpr int kAhead = kStages - 2;
    const int64_t steps = (k + kWide - 1) / kWide;
    const auto copy = [&](int64_t step) {
        if (step < steps) {
            WideStage& stage = stages[step % kStages];
            copy_tile<true>(stage.left, problem.x, row0, step * kWide, end, k);
#pragma unroll
            for (int part = 0; part < kTileN / kWide; ++part)
                copy_tile<true>(stage.right[part], weights, step * kWide, tile.column0 + part * kWide, k, n);
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
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int64_t row = row0 + threadIdx.x / 32 * 16 + half * 8 + lane / 4;
        if (row >= end) continue;
#pragma unroll
        for (int j = 0; j < kTileN / 8; ++j)
            store<true>(problem.out + row * n, tile.column0 + j * 8 + lane % 4 * 2, n, sums[j * 4 + half * 2],
                        sums[j * 4 + half * 2 + 1]);
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

template <typename Kernel>
static void launch(Kernel kernel, int shared, const Problem& problem) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    kernel<<<static_cast<unsigned>(problem.most * problem.tiles_n), kThreads, shared>>>(problem);
}

extern "C" void solve(const __half* x, const __half* w, const int64_t* offsets, __half* out, int64_t tokens,
                      int64_t experts, int64_t k, int64_t n) {
    if (tokens == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    // An expert's last stripe has at least one row: this is the number of stripes if all last ones have no more.
    const int64_t owners = experts < tokens ? experts : tokens;
    const int64_t most = (tokens + owners * (kTileM - 1)) / kTileM;
    Stripe* stripes = nullptr;
    const size_t bytes = static_cast<size_t>(most) * sizeof(Stripe) + static_cast<size_t>(experts + 1) * sizeof(int64_t);
    if (cudaMallocAsync(reinterpret_cast<void**>(&stripes), bytes, 0) != cudaSuccess) return;
    plan<<<1, kPlanThreads>>>(offsets, experts, reinterpret_cast<int64_t*>(stripes + most), stripes, most);

    const Problem problem{x, w, out, stripes, most, k, n, (n + kTileN - 1) / kTileN};
    constexpr int kShared = kStages * static_cast<int>(sizeof(Stage));
    constexpr int kWideShared = kStages * static_cast<int>(sizeof(WideStage));
    if (k % kChunk != 0 || n % kChunk != 0)
        launch(multiply_stripes<false>, kShared, problem);
    else if (is_hopper())
        launch(multiply_stripes_wide, kWideShared, problem);
    else
        launch(multiply_stripes<true>, kShared, problem);
    cudaFreeAsync(stripes, 0);
}
