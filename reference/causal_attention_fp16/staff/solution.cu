// Causal attention in float16: one pass over the keys, scores never leave the registers (flash attention), products on
// tensor cores.
//
// All of a block walk through the keys up to its last query, a tile at a time; the next tile is on its way meanwhile. Each
// query belongs to four lanes, which keep the highest score so far, the sum of exp(score - highest), and the weighted sum
// of values. When a higher score turns up, both sums shrink by exp(old - new).
//
// On Hopper, wgmma multiplies: four warps take 64 queries, keys and values come from shared memory, and while four warps
// weigh scores, the other four multiply. On other GPUs, and for wide heads, mma.sync multiplies, and a warp takes 16
// queries.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kRows = 16;   // queries of a warp
constexpr int kChunk = 8;   // elements in 16 bytes
constexpr int kPart = 64;   // columns of a tile that lie together: a row of 128 bytes
constexpr float kLog2E = 1.4426950408889634f;  // exp(x) = 2^(x * log2(e)): powers of 2 are what hardware has

template <int Rows, int Width>
using Tile = __half[Width / kPart][Rows][kPart];

template <int Width, int Warps, int Keys>
struct Shared {
    Tile<Warps * kRows, Width> queries;
    Tile<Keys, Width> keys[2], values[2];  // one is used while the other is filled
};

// A chunk of a row. ldmatrix reads the same chunk of eight rows at once: in their own order they would share a few banks.
// To wgmma this order is a swizzle of 128 bytes.
template <int Rows, int Parts>
__device__ __half* chunk_of(__half (&tile)[Parts][Rows][kPart], int row, int chunk) {
    return &tile[chunk / 8][row][(chunk % 8 ^ row % 8) * kChunk];
}

template <int Rows, int Parts>
__device__ const __half* chunk_of(const __half (&tile)[Parts][Rows][kPart], int row, int chunk) {
    return &tile[chunk / 8][row][(chunk % 8 ^ row % 8) * kChunk];
}

// Rows [0, Rows) of a [rows, dim] array; what is outside is 0. chunked: dim is a multiple of 8, so a chunk is inside or
// outside as a whole, and is copied in the background.
template <int Threads, int Rows, int Parts>
__device__ void load_tile(__half (&tile)[Parts][Rows][kPart], const __half* from, int64_t rows, int dim, bool chunked) {
    constexpr int kChunks = Parts * kPart / kChunk;
#pragma unroll
    for (int i = 0; i < Rows * kChunks / Threads; ++i) {
        const int piece = threadIdx.x + i * Threads, row = piece / kChunks, column = piece % kChunks * kChunk;
        __half* to = chunk_of(tile, row, piece % kChunks);
        const __half* source = from + static_cast<int64_t>(row) * dim + column;
        if (chunked) {
            const bool inside = row < rows && column < dim;
            // The last argument is how many of the 16 bytes are to be zeros instead of copied.
            __pipeline_memcpy_async(to, inside ? source : from, 16, inside ? 0 : 16);
        } else {
            for (int c = 0; c < kChunk; ++c) to[c] = row < rows && column + c < dim ? source[c] : __float2half(0.0f);
        }
    }
}

// Where a block works. The last queries see most keys: they begin first, so that no long block is left over at the end.
struct Place {
    int64_t head, first;  // where the head's arrays begin (heads * seq * dim may exceed 2^31), and the first query
};

__device__ Place place_of(int queries, int64_t seq, int dim, int64_t blocks) {
    return {blockIdx.x / blocks * seq * dim, (blocks - 1 - blockIdx.x % blocks) * queries};
}

// Of the lane's two queries, 8 apart. Of each 8 keys or columns it has two neighbours in the first, then in the second.
struct Running {
    float highest[2] = {-INFINITY, -INFINITY}, total[2] = {};  // the highest is times `factor`
};

// 2^x in one instruction; below 2^-126 it is 0.
__device__ float power_of_2(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// Turns the scores of a tile's keys, from `start` on, into weights, exp(score - highest), and shrinks what older tiles gave.
// mine: the lane's first query. masked: some query does not see all keys. factor is scale * log2(e), and positive.
template <int Scores, int Results>
__device__ void weigh(float (&scores)[Scores], Running& running, float (&result)[Results], float factor, bool masked,
                      int64_t start, int64_t mine) {
    if (masked) {  // few tiles are: the others are spared the comparisons
        const int seen = static_cast<int>(mine - start) - threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < Scores; ++i)
            if (i / 4 * 8 + i % 2 > seen + i / 2 % 2 * 8) scores[i] = -INFINITY;
    }
    float higher[2] = {-INFINITY, -INFINITY};
#pragma unroll
    for (int i = 0; i < Scores; ++i) higher[i / 2 % 2] = fmaxf(higher[i / 2 % 2], scores[i]);
    float shrink[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        higher[half] = fmaxf(higher[half], __shfl_xor_sync(0xffffffffu, higher[half], 1));
        higher[half] = fmaxf(higher[half], __shfl_xor_sync(0xffffffffu, higher[half], 2));
        higher[half] = fmaxf(running.highest[half], higher[half] * factor);
        shrink[half] = power_of_2(running.highest[half] - higher[half]);
        running.highest[half] = higher[half];
        running.total[half] *= shrink[half];
    }
#pragma unroll
    for (int i = 0; i < Scores; ++i) {
        scores[i] = power_of_2(fmaf(scores[i], factor, -higher[i / 2 % 2]));
        running.total[i / 2 % 2] += scores[i];  // of this lane's keys; the four lanes meet at the end
    }
#pragma unroll
    for (int i = 0; i < Results; ++i) result[i] *= shrink[i / 2 % 2];
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

template <int Results>
__device__ void finish(const float (&result)[Results], Running& running, __half* out, int64_t mine, int64_t seq, int dim) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float total = running.total[half];
        total += __shfl_xor_sync(0xffffffffu, total, 1);
        total += __shfl_xor_sync(0xffffffffu, total, 2);
        const int64_t query = mine + half * 8;
        if (query >= seq) continue;
        __half* to = out + query * dim;
#pragma unroll
        for (int d = 0; d < Results / 4; ++d) {
            const int column = d * 8 + threadIdx.x % 4 * 2;
            const __half2 two =
                __floats2half2_rn(result[d * 4 + half * 2] / total, result[d * 4 + half * 2 + 1] / total);
            if (dim % 2 == 0) {
                if (column < dim) *reinterpret_cast<__half2*>(to + column) = two;
            } else {
                if (column < dim) to[column] = __low2half(two);
                if (column + 1 < dim) to[column + 1] = __high2half(two);
            }
        }
    }
}

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

// Width: dim, rounded up to what was compiled.
template <int Width, int Warps, int Keys>
__global__ void __launch_bounds__(Warps * 32, 1)
attend(const __half* q, const __half* k, const __half* v, __half* out, float factor, int64_t seq, int dim,
       int64_t blocks) {
    constexpr int kQueries = Warps * kRows, kThreads = Warps * 32;
    constexpr bool kHeld = Width <= 128;  // queries stay in registers; wider ones leave no room for them
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared<Width, Warps, Keys>& shared = *reinterpret_cast<Shared<Width, Warps, Keys>*>(memory);
    const Place place = place_of(kQueries, seq, dim, blocks);
    const int64_t head = place.head, first = place.first;
    const int lane = threadIdx.x % 32, top = threadIdx.x / 32 * kRows;  // top: the warp's first query of the block
    const int64_t mine = first + top + lane / 4;  // the lane's queries are this and the one 8 after it
    const bool chunked = dim % kChunk == 0;

    const int64_t end = first + kQueries < seq ? first + kQueries : seq;
    const int64_t tiles = (end + Keys - 1) / Keys;
    const auto copy = [&](int64_t tile) {
        const int64_t start = tile * Keys;
        load_tile<kThreads>(shared.keys[tile % 2], k + head + start * dim, seq - start, dim, chunked);
        load_tile<kThreads>(shared.values[tile % 2], v + head + start * dim, seq - start, dim, chunked);
        __pipeline_commit();
    };
    load_tile<kThreads>(shared.queries, q + head + first * dim, seq - first, dim, chunked);
    copy(0);

    unsigned held[kHeld ? Width / 16 : 1][4];
    const auto query_pieces = [&](unsigned (&words)[4], int d) {
        load_pieces(words, chunk_of(shared.queries, top + lane % 16, d * 2 + lane / 16));
    };
    Running running;
    float result[Width / 2] = {};
    for (int64_t tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) copy(tile + 1);
        // All copies of this thread but the newest have arrived, or simply all in the last step;
        __pipeline_wait_prior(tile + 1 < tiles ? 1 : 0);
        __syncthreads();  // and so have those of all other threads.
        if (kHeld && tile == 0) {
#pragma unroll
            for (int d = 0; d < (kHeld ? Width / 16 : 0); ++d) query_pieces(held[d], d);
        }
        const int64_t start = tile * Keys;
        if (start <= first + top + kRows - 1) {  // else no query of the warp sees any of these keys
            const auto& keys = shared.keys[tile % 2];
            const auto& values = shared.values[tile % 2];
            float scores[Keys / 2] = {};
#pragma unroll
            for (int d = 0; d < Width / 16; ++d) {
                unsigned read[4];
                if (!kHeld) query_pieces(read, d);
                const unsigned(&left)[4] = kHeld ? held[kHeld ? d : 0] : read;
#pragma unroll
                for (int j = 0; j < Keys / 8; j += 2) {
                    unsigned right[4];  // two words of each of 8 keys, then of the next 8
                    load_pieces(right, chunk_of(keys, j * 8 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2));
                    multiply(&scores[j * 4], left, right[0], right[1]);
                    multiply(&scores[j * 4 + 4], left, right[2], right[3]);
                }
            }
            weigh(scores, running, result, factor, start + Keys - 1 > first + top, start, mine);
#pragma unroll
            for (int j = 0; j < Keys / 8; j += 2) {
                unsigned left[4];
                pack(left, &scores[j * 4]);
#pragma unroll
                for (int d = 0; d < Width / 8; d += 2) {
                    unsigned right[4];  // two words of each of 8 columns, then of the next 8
                    load_transposed(right, chunk_of(values, j * 8 + lane % 16, d + lane / 16));
                    multiply(&result[d * 4], left, right[0], right[1]);
                    multiply(&result[d * 4 + 4], left, right[2], right[3]);
                }
            }
        }
        __syncthreads();  // nobody may fill this tile again while someone still reads it
    }
    finish(result, running, out + head, mine, seq, dim);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

// Where wgmma finds a factor in shared memory. 8 rows follow each other, then the next 8; leading: bytes to the next part.
__device__ uint64_t described(const __half* at, uint64_t leading) {
    constexpr uint64_t kSwizzle128 = 1, kStride = 8 * kPart * sizeof(__half);
    const uint64_t address = __cvta_generic_to_shared(at);
    return (address >> 4 & 0x3fff) | leading >> 4 << 16 | kStride >> 4 << 32 | kSwizzle128 << 62;
}

// sums[64 x 128] = left[64 x 16] * right[16 x 128], + sums if `adds`, of four warps in the background. Rows of left and
// columns of right lie along k.
__device__ void multiply_wide(float (&sums)[64], uint64_t left, uint64_t right, int adds) {
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

constexpr int kWideWarps = 8, kWideKeys = 128;

template <int Width>
__global__ void __launch_bounds__(kWideWarps * 32, 1)
attend_wide(const __half* q, const __half* k, const __half* v, __half* out, float factor, int64_t seq, int dim,
            int64_t blocks) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int kQueries = kWideWarps * kRows, kThreads = kWideWarps * 32, kKeys = kWideKeys;
    extern __shared__ __align__(1024) unsigned char memory[];
    auto& shared = *reinterpret_cast<Shared<Width, kWideWarps, kKeys>*>(memory);
    const Place place = place_of(kQueries, seq, dim, blocks);
    const int64_t head = place.head, first = place.first;
    const int lane = threadIdx.x % 32, group = threadIdx.x / 128 * 64;  // group: the four warps' first query of the block
    const int64_t mine = first + threadIdx.x / 32 * kRows + lane / 4;
    const bool chunked = dim % kChunk == 0;

    const int64_t end = first + kQueries < seq ? first + kQueries : seq;
    const int64_t tiles = (end + kKeys - 1) / kKeys;
    const auto copy = [&](int64_t tile) {
        const int64_t start = tile * kKeys;
        load_tile<kThreads>(shared.keys[tile % 2], k + head + start * dim, seq - start, dim, chunked);
        load_tile<kThreads>(shared.values[tile % 2], v + head + start * dim, seq - start, dim, chunked);
        __pipeline_commit();
    };
    load_tile<kThreads>(shared.queries, q + head + first * dim, seq - first, dim, chunked);
    copy(0);

    Running running;
    float result[Width / 2] = {};
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
        for (int d = 0; d < Width; d += 16)
            multiply_wide(scores, described(&shared.queries[d / kPart][group][d % kPart], 16),
                          described(&keys[d / kPart][0][d % kPart], 16), d > 0);
        end_products();
        const int64_t start = tile * kKeys;
        weigh(scores, running, result, factor, start + kKeys - 1 > first + group, start, mine);
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
    finish(result, running, out + head, mine, seq, dim);
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

template <typename Shared, typename Kernel>
static void launch(Kernel kernel, int warps, const __half* q, const __half* k, const __half* v, __half* out, float scale,
                   int64_t heads, int64_t seq, int64_t dim) {
    const int64_t blocks = (seq + warps * kRows - 1) / (warps * kRows);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
    kernel<<<static_cast<unsigned>(blocks * heads), warps * 32, sizeof(Shared)>>>(
        q, k, v, out, scale * kLog2E, seq, static_cast<int>(dim), blocks);
}

template <int Width, int Warps, int Keys>
static void launch(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                   int64_t seq, int64_t dim) {
    launch<Shared<Width, Warps, Keys>>(attend<Width, Warps, Keys>, Warps, q, k, v, out, scale, heads, seq, dim);
}

template <int Width>
static void launch_wide(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                        int64_t seq, int64_t dim) {
    launch<Shared<Width, kWideWarps, kWideKeys>>(attend_wide<Width>, kWideWarps, q, k, v, out, scale, heads, seq, dim);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;  // out is empty
    const bool hopper = is_hopper();
    // Without Hopper at most 96 KiB of shared memory, which GPUs from compute capability 8.0 on have.
    if (dim <= 64)
        (hopper ? launch_wide<64> : launch<64, 8, 64>)(q, k, v, out, scale, heads, seq, dim);
    else if (dim <= 128)
        (hopper ? launch_wide<128> : launch<128, 8, 64>)(q, k, v, out, scale, heads, seq, dim);
    else
        launch<256, 4, 32>(q, k, v, out, scale, heads, seq, dim);
}
