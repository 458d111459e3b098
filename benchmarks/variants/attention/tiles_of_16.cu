// Tiles of 16 queries and 16 keys: one score a thread and step. Otherwise as the solution.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kSide = 16;
constexpr int kThreads = kSide * kSide;
constexpr float kLog2E = 1.4426950408889634f;  // exp(x) = 2^(x * log2(e)): powers of 2 are what hardware has

// Copies rows [0, Rows) of a [rows, dim] array; what lies outside is 0. A row is one word longer than Width, so that a
// column of the tile does not lie in one memory bank.
template <int Rows, int Width>
__device__ void load_tile(float (*tile)[Width + 1], const float* from, int64_t rows, int dim) {
    for (int i = threadIdx.x; i < Rows * Width; i += kThreads) {
        const int row = i / Width, column = i % Width;
        tile[row][column] = row < rows && column < dim ? from[static_cast<int64_t>(row) * dim + column] : 0.0f;
    }
}

// Over the 16 threads of a row: they are one half of a warp.
__device__ float row_max(float value) {
    for (int offset = kSide / 2; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    return value;
}

__device__ float row_sum(float value) {
    for (int offset = kSide / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

// Width: dim, rounded up to what was compiled. factor is scale * log2(e).
template <int Width, int Queries, int Keys>
__global__ void __launch_bounds__(kThreads)
attend(const float* q, const float* k, const float* v, float* out, float factor, int64_t seq, int dim,
       int64_t blocks) {
    // What one thread has: queries ty, ty + 16, ..., keys tx, tx + 16, ... and columns tx, tx + 16, ... of the result.
    constexpr int kOwnQueries = Queries / kSide, kOwnKeys = Keys / kSide, kOwnColumns = Width / kSide;
    __shared__ float queries[Queries][Width + 1];
    __shared__ float tile[Keys][Width + 1];  // keys, then values
    __shared__ float weights[Queries][Keys + 1];
    const int ty = threadIdx.x / kSide, tx = threadIdx.x % kSide;
    const int64_t head = blockIdx.x / blocks * seq * dim;  // 64 bits: heads * seq * dim may exceed 2^31
    const int64_t first = blockIdx.x % blocks * Queries;
    load_tile<Queries, Width>(queries, q + head + first * dim, seq - first, dim);

    float highest[kOwnQueries], total[kOwnQueries], result[kOwnQueries][kOwnColumns] = {};
    for (int i = 0; i < kOwnQueries; ++i) {
        highest[i] = -INFINITY;
        total[i] = 0.0f;
    }
    for (int64_t start = 0; start < seq; start += Keys) {
        __syncthreads();  // nobody may still read the values of the step before
        load_tile<Keys, Width>(tile, k + head + start * dim, seq - start, dim);
        __syncthreads();

        float score[kOwnQueries][kOwnKeys] = {};
#pragma unroll 8
        for (int d = 0; d < Width; ++d) {
            float mine[kOwnQueries], theirs[kOwnKeys];
            for (int i = 0; i < kOwnQueries; ++i) mine[i] = queries[ty + i * kSide][d];
            for (int j = 0; j < kOwnKeys; ++j) theirs[j] = tile[tx + j * kSide][d];
            for (int i = 0; i < kOwnQueries; ++i)
                for (int j = 0; j < kOwnKeys; ++j) score[i][j] += mine[i] * theirs[j];
        }

        for (int i = 0; i < kOwnQueries; ++i) {
            float higher = highest[i];
            for (int j = 0; j < kOwnKeys; ++j) {
                // A key beyond the last has no score, and not a score of 0: that could be the highest.
                score[i][j] = start + tx + j * kSide < seq ? score[i][j] * factor : -INFINITY;
                higher = fmaxf(higher, score[i][j]);
            }
            higher = row_max(higher);
            // Nothing but -inf so far: take 0 as reference, as -inf - -inf would be NaN for good.
            const float reference = higher == -INFINITY ? 0.0f : higher;
            const float shrink = exp2f(highest[i] - reference);
            total[i] *= shrink;
            for (int j = 0; j < kOwnColumns; ++j) result[i][j] *= shrink;
            for (int j = 0; j < kOwnKeys; ++j) {
                const float weight = exp2f(score[i][j] - reference);
                total[i] += weight;  // of this thread's keys; the row's threads meet at the end
                weights[ty + i * kSide][tx + j * kSide] = weight;
            }
            highest[i] = higher;
        }

        __syncthreads();  // all weights are there, and nobody reads the keys any more
        load_tile<Keys, Width>(tile, v + head + start * dim, seq - start, dim);
        __syncthreads();
#pragma unroll 4
        for (int key = 0; key < Keys; ++key) {
            float mine[kOwnQueries];
            for (int i = 0; i < kOwnQueries; ++i) mine[i] = weights[ty + i * kSide][key];
            for (int j = 0; j < kOwnColumns; ++j) {
                const float value = tile[key][tx + j * kSide];
                for (int i = 0; i < kOwnQueries; ++i) result[i][j] += mine[i] * value;
            }
        }
    }

    for (int i = 0; i < kOwnQueries; ++i) {
        const float all = row_sum(total[i]);
        const int64_t query = first + ty + i * kSide;
        for (int j = 0; j < kOwnColumns; ++j) {
            const int column = tx + j * kSide;
            if (query < seq && column < dim) out[head + query * dim + column] = result[i][j] / all;
        }
    }
}

template <int Width, int Queries, int Keys>
void launch(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads, int64_t seq,
            int64_t dim) {
    const int64_t blocks = (seq + Queries - 1) / Queries;
    attend<Width, Queries, Keys><<<static_cast<unsigned>(blocks * heads), kThreads>>>(
        q, k, v, out, scale * kLog2E, seq, static_cast<int>(dim), blocks);
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;  // out is empty
    if (dim <= 64)
        launch<64, 16, 16>(q, k, v, out, scale, heads, seq, dim);
    else
        launch<256, 16, 16>(q, k, v, out, scale, heads, seq, dim);
}
