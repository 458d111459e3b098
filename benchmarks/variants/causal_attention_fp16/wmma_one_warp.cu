// Blocks of one warp and 16 queries, tensor cores through wmma. Otherwise as the solution.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 16;  // side of a wmma tile
constexpr int kKeys = 32;  // keys per step
constexpr float kLog2E = 1.4426950408889634f;  // exp(x) = 2^(x * log2(e)): powers of 2 are what hardware has

// Rows are a little longer than their contents, so that rows do not all begin in the same memory bank.
template <int Width, int Warps>
struct Shared {
    alignas(32) __half queries[Warps * kTile][Width + 8];
    alignas(32) __half tile[kKeys][Width + 8];  // keys, then values
    alignas(32) float scores[Warps * kTile][kKeys + 4];
    alignas(32) __half weights[Warps * kTile][kKeys + 8];
    alignas(32) float result[Warps * kTile][Width + 4];
};

// Copies rows [0, Rows) of a [rows, dim] array; what lies outside is 0.
template <int Width, int Rows>
__device__ void load_tile(__half (*tile)[Width + 8], const __half* from, int64_t rows, int dim) {
    for (int i = threadIdx.x; i < Rows * Width; i += blockDim.x) {
        const int row = i / Width, column = i % Width;
        tile[row][column] = row < rows && column < dim ? from[static_cast<int64_t>(row) * dim + column]
                                                       : __float2half(0.0f);
    }
}

// Width: dim, rounded up to what was compiled. factor is scale * log2(e), and positive.
template <int Width, int Warps>
__global__ void __launch_bounds__(Warps * 32)
attend(const __half* q, const __half* k, const __half* v, __half* out, float factor, int64_t seq, int dim,
       int64_t blocks) {
    constexpr int kQueries = Warps * kTile;
    __shared__ Shared<Width, Warps> shared;
    // The last queries see most keys: they begin first, so that no long block is left over at the end.
    const int64_t head = blockIdx.x / blocks * seq * dim;  // 64 bits: heads * seq * dim may exceed 2^31
    const int64_t first = (blocks - 1 - blockIdx.x % blocks) * kQueries;
    const int lane = threadIdx.x % 32, top = threadIdx.x / 32 * kTile;  // top: the warp's first row of the tiles
    const int row = top + lane / 2, side = lane % 2;                    // the lane's query, and its half of it

    load_tile<Width, kQueries>(shared.queries, q + head + first * dim, seq - first, dim);
    for (int i = side * (Width / 2); i < (side + 1) * (Width / 2); ++i) shared.result[row][i] = 0.0f;

    float highest = -INFINITY, total = 0.0f;
    const int64_t end = first + kQueries < seq ? first + kQueries : seq;
    for (int64_t start = 0; start < end; start += kKeys) {
        __syncthreads();  // nobody may still read the values of the step before
        load_tile<Width, kKeys>(shared.tile, k + head + start * dim, seq - start, dim);
        __syncthreads();

        // scores = queries * keys^T, 16 x 16 at a time. Keys lie row by row: read by column they are transposed.
        for (int part = 0; part < kKeys; part += kTile) {
            wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
            wmma::fill_fragment(sum, 0.0f);
            for (int d = 0; d < Width; d += kTile) {
                wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> left;
                wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::col_major> right;
                wmma::load_matrix_sync(left, &shared.queries[top][d], Width + 8);
                wmma::load_matrix_sync(right, &shared.tile[part][d], Width + 8);
                wmma::mma_sync(sum, left, right, sum);
            }
            wmma::store_matrix_sync(&shared.scores[top][part], sum, kKeys + 4, wmma::mem_row_major);
        }
        __syncwarp();

        // Softmax of 32 scores by two lanes, 16 each. A query sees the keys up to itself.
        float higher = highest;
        const int begin = side * kTile;
        for (int i = 0; i < kTile; ++i) {
            const float score = shared.scores[row][begin + i] * factor;
            const float seen = start + begin + i <= first + row ? score : -INFINITY;
            shared.scores[row][begin + i] = seen;
            higher = fmaxf(higher, seen);
        }
        higher = fmaxf(higher, __shfl_xor_sync(0xffffffffu, higher, 1));
        const float shrink = exp2f(highest - higher);
        total *= shrink;
        for (int i = 0; i < kTile; ++i) {
            const float weight = exp2f(shared.scores[row][begin + i] - higher);
            total += weight;  // this lane's half of the sum; the halves meet at the end
            shared.weights[row][begin + i] = __float2half(weight);  // between 0 and 1: safe in float16
        }
        highest = higher;
        for (int i = side * (Width / 2); i < (side + 1) * (Width / 2); ++i) shared.result[row][i] *= shrink;

        __syncthreads();  // nobody may still read the keys
        load_tile<Width, kKeys>(shared.tile, v + head + start * dim, seq - start, dim);
        __syncthreads();

        // result += weights * values, sums in float32.
        for (int d = 0; d < Width; d += kTile) {
            wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
            wmma::load_matrix_sync(sum, &shared.result[top][d], Width + 4, wmma::mem_row_major);
            for (int part = 0; part < kKeys; part += kTile) {
                wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> left;
                wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::row_major> right;
                wmma::load_matrix_sync(left, &shared.weights[top][part], kKeys + 8);
                wmma::load_matrix_sync(right, &shared.tile[part][d], Width + 8);
                wmma::mma_sync(sum, left, right, sum);
            }
            wmma::store_matrix_sync(&shared.result[top][d], sum, Width + 4, wmma::mem_row_major);
        }
        __syncwarp();
    }

    total += __shfl_xor_sync(0xffffffffu, total, 1);
    if (first + row < seq)
        for (int i = side; i < dim; i += 2)
            out[head + (first + row) * dim + i] = __float2half(shared.result[row][i] / total);
}

template <int Width, int Warps>
void launch(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads, int64_t seq,
            int64_t dim) {
    constexpr int kQueries = Warps * kTile;
    const int64_t blocks = (seq + kQueries - 1) / kQueries;
    attend<Width, Warps><<<static_cast<unsigned>(blocks * heads), Warps * 32>>>(
        q, k, v, out, scale * kLog2E, seq, static_cast<int>(dim), blocks);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;  // out is empty
    // Wider heads leave room for fewer queries in the 48 KiB of shared memory that every GPU gives without asking.
    if (dim <= 64)
        launch<64, 1>(q, k, v, out, scale, heads, seq, dim);
    else if (dim <= 128)
        launch<128, 1>(q, k, v, out, scale, heads, seq, dim);
    else
        launch<256, 1>(q, k, v, out, scale, heads, seq, dim);
}
