// Causal attention in float16: one pass over the keys, scores never leave the registers (flash attention), products on
// tensor cores by mma.sync.
//
// A warp takes 16 queries, a block four or eight warps. All of the block walk through the keys up to its last query, a
// tile at a time; the next tile is on its way meanwhile. Each query belongs to four lanes, which keep the highest score
// so far, the sum of exp(score - highest), and the weighted sum of values. When a higher score turns up, both sums shrink
// by exp(old - new).
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kRows = 16;   // queries of a warp
constexpr int kChunk = 8;   // elements in 16 bytes
constexpr float kLog2E = 1.4426950408889634f;  // exp(x) = 2^(x * log2(e)): powers of 2 are what hardware has

template <int Width, int Warps, int Keys>
struct Shared {
    __half queries[Warps * kRows][Width];
    __half keys[2][Keys][Width], values[2][Keys][Width];  // one tile is used while the other is filled
};

// The first element of a chunk of a row. ldmatrix reads the same chunk of eight rows at once: in their own order they
// would share a few banks.
__device__ int chunk_at(int row, int chunk) { return (chunk ^ row % 8) * kChunk; }

// Rows [0, Rows) of a [rows, dim] array; what is outside is 0. chunked: dim is a multiple of 8, so a chunk is inside or
// outside as a whole, and is copied in the background.
template <int Threads, int Width, int Rows>
__device__ void load_tile(__half (&tile)[Rows][Width], const __half* from, int64_t rows, int dim, bool chunked) {
#pragma unroll
    for (int i = 0; i < Rows * Width / kChunk / Threads; ++i) {
        const int piece = threadIdx.x + i * Threads, row = piece / (Width / kChunk), chunk = piece % (Width / kChunk);
        const int column = chunk * kChunk;
        __half* to = &tile[row][chunk_at(row, chunk)];
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
__device__ void multiply(float (&sums)[4], const unsigned (&left)[4], unsigned right0, unsigned right1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

__device__ unsigned packed(float low, float high) {
    const __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&two);
}

// Width: dim, rounded up to what was compiled. factor is scale * log2(e), and positive.
template <int Width, int Warps, int Keys>
__global__ void __launch_bounds__(Warps * 32, 1)
attend(const __half* q, const __half* k, const __half* v, __half* out, float factor, int64_t seq, int dim,
       int64_t blocks) {
    constexpr int kQueries = Warps * kRows, kThreads = Warps * 32;
    constexpr bool kHeld = Width <= 128;  // queries stay in registers; wider ones leave no room for them
    extern __shared__ __align__(128) unsigned char memory[];
    Shared<Width, Warps, Keys>& shared = *reinterpret_cast<Shared<Width, Warps, Keys>*>(memory);
    // The last queries see most keys: they begin first, so that no long block is left over at the end.
    const int64_t head = blockIdx.x / blocks * seq * dim;  // 64 bits: heads * seq * dim may exceed 2^31
    const int64_t first = (blocks - 1 - blockIdx.x % blocks) * kQueries;
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
        const int row = top + lane % 16;
        load_pieces(words, &shared.queries[row][chunk_at(row, d * 2 + lane / 16)]);
    };
    float highest[2] = {-INFINITY, -INFINITY}, total[2] = {};
    float result[Width / 8][4] = {};  // two neighbours in each of the lane's queries, for each 8 columns
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
            float scores[Keys / 8][4] = {};
#pragma unroll
            for (int d = 0; d < Width / 16; ++d) {
                unsigned read[4];
                if (!kHeld) query_pieces(read, d);
                const unsigned(&left)[4] = kHeld ? held[kHeld ? d : 0] : read;
#pragma unroll
                for (int j = 0; j < Keys / 8; j += 2) {
                    unsigned right[4];  // two words of each of 8 keys, then of the next 8
                    const int row = j * 8 + lane / 16 * 8 + lane % 8;
                    load_pieces(right, &keys[row][chunk_at(row, d * 2 + lane / 8 % 2)]);
                    multiply(scores[j], left, right[0], right[1]);
                    multiply(scores[j + 1], left, right[2], right[3]);
                }
            }
            const bool masked = start + Keys - 1 > first + top;  // some query of the warp does not see all keys
            float higher[2] = {highest[0], highest[1]};
#pragma unroll
            for (int j = 0; j < Keys / 8; ++j)
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    float score = scores[j][c] * factor;
                    if (masked && start + j * 8 + lane % 4 * 2 + c % 2 > mine + c / 2 * 8) score = -INFINITY;
                    scores[j][c] = score;
                    higher[c / 2] = fmaxf(higher[c / 2], score);
                }
            float shrink[2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                higher[half] = fmaxf(higher[half], __shfl_xor_sync(0xffffffffu, higher[half], 1));
                higher[half] = fmaxf(higher[half], __shfl_xor_sync(0xffffffffu, higher[half], 2));
                shrink[half] = exp2f(highest[half] - higher[half]);
                highest[half] = higher[half];
                total[half] *= shrink[half];
            }
#pragma unroll
            for (int j = 0; j < Keys / 8; ++j)
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    scores[j][c] = exp2f(scores[j][c] - higher[c / 2]);
                    total[c / 2] += scores[j][c];  // of this lane's keys; the four lanes meet at the end
                }
#pragma unroll
            for (int d = 0; d < Width / 8; ++d)
#pragma unroll
                for (int c = 0; c < 4; ++c) result[d][c] *= shrink[c / 2];
            // A lane has the weights that it needs as the left side of the next product. They are between 0 and 1: safe
            // in float16.
#pragma unroll
            for (int j = 0; j < Keys / 8; j += 2) {
                const unsigned left[4] = {packed(scores[j][0], scores[j][1]), packed(scores[j][2], scores[j][3]),
                                          packed(scores[j + 1][0], scores[j + 1][1]),
                                          packed(scores[j + 1][2], scores[j + 1][3])};
#pragma unroll
                for (int d = 0; d < Width / 8; d += 2) {
                    unsigned right[4];  // two words of each of 8 columns, then of the next 8
                    const int row = j * 8 + lane % 16;
                    load_transposed(right, &values[row][chunk_at(row, d + lane / 16)]);
                    multiply(result[d], left, right[0], right[1]);
                    multiply(result[d + 1], left, right[2], right[3]);
                }
            }
        }
        __syncthreads();  // nobody may fill this tile again while someone still reads it
    }

#pragma unroll
    for (int half = 0; half < 2; ++half) {
        total[half] += __shfl_xor_sync(0xffffffffu, total[half], 1);
        total[half] += __shfl_xor_sync(0xffffffffu, total[half], 2);
        const int64_t query = mine + half * 8;
        if (query >= seq) continue;
        __half* to = out + head + query * dim;
#pragma unroll
        for (int d = 0; d < Width / 8; ++d) {
            const int column = d * 8 + lane % 4 * 2;
            const __half2 two = __floats2half2_rn(result[d][half * 2] / total[half], result[d][half * 2 + 1] / total[half]);
            if (dim % 2 == 0) {
                if (column < dim) *reinterpret_cast<__half2*>(to + column) = two;
            } else {
                if (column < dim) to[column] = __low2half(two);
                if (column + 1 < dim) to[column + 1] = __high2half(two);
            }
        }
    }
}

template <int Width, int Warps, int Keys>
static void launch(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                   int64_t seq, int64_t dim) {
    constexpr int kQueries = Warps * kRows, kShared = static_cast<int>(sizeof(Shared<Width, Warps, Keys>));
    const int64_t blocks = (seq + kQueries - 1) / kQueries;
    const auto kernel = attend<Width, Warps, Keys>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
    kernel<<<static_cast<unsigned>(blocks * heads), Warps * 32, kShared>>>(
        q, k, v, out, scale * kLog2E, seq, static_cast<int>(dim), blocks);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;  // out is empty
    // At most 96 KiB of shared memory, which GPUs from compute capability 8.0 on have.
    if (dim <= 64)
        launch<64, 8, 64>(q, k, v, out, scale, heads, seq, dim);
    else if (dim <= 128)
        launch<128, 8, 64>(q, k, v, out, scale, heads, seq, dim);
    else
        launch<256, 4, 32>(q, k, v, out, scale, heads, seq, dim);
}
