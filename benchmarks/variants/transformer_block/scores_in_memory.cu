// Attention in three launches: a matrix of scores in memory, softmax of its rows, and a product with the values. Products by
// wmma, a tile of 64 x 64 a block, without copies in the background.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kSide = 64, kDepth = 32;

__global__ void norm(const __half* x, const __half* gamma, __half* out, float eps, int64_t cols) {
    __shared__ float parts[8];
    const __half* row = x + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += 256) squares += __half2float(row[c]) * __half2float(row[c]);
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(~0u, squares, offset);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
    __syncthreads();
    squares = 0.0f;
    for (int i = 0; i < 8; ++i) squares += parts[i];
    const float factor = rsqrtf(squares / cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += 256)
        out[blockIdx.x * cols + c] = __float2half(__half2float(row[c]) * factor * __half2float(gamma[c]));
}

// Of pair p, x begins at (p / heads) * outer + (p % heads) * inner, and its rows are `pitch` apart.
struct Matrix {
    const __half* x;
    int64_t pitch, outer, inner;
    __device__ const __half* of(int64_t pair, int64_t heads) const {
        return x + pair / heads * outer + pair % heads * inner;
    }
};

enum End { kPlain, kGelu, kAdd, kScores };

// out = a * b, or a * b^T; kScores: float32, times factor.
template <End kEnd, bool kTransposed>
__global__ void __launch_bounds__(128)
product(Matrix a, Matrix b, Matrix to, const __half* added, float* scores, int64_t heads, int64_t m, int64_t n, int64_t k,
        float factor) {
    __shared__ __align__(32) __half left[kSide][kDepth + 8], right[kDepth][kSide + 8];
    __shared__ __align__(32) float result[kSide][kSide + 8];
    const int64_t pair = blockIdx.z, row0 = blockIdx.y * kSide, column0 = blockIdx.x * kSide;
    const __half *A = a.of(pair, heads), *B = b.of(pair, heads);
    const int warp_row = threadIdx.x / 64 * 32, warp_column = threadIdx.x / 32 % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int64_t start = 0; start < k; start += kDepth) {
        for (int i = threadIdx.x; i < kSide * kDepth; i += 128) {
            const int64_t row = row0 + i / kDepth, depth = start + i % kDepth;
            left[i / kDepth][i % kDepth] = row < m && depth < k ? A[row * a.pitch + depth] : __float2half(0.0f);
            if (kTransposed) {
                const int64_t column = column0 + i / kDepth;
                right[i % kDepth][i / kDepth] =
                    column < n && depth < k ? B[column * b.pitch + depth] : __float2half(0.0f);
            } else {
                const int64_t down = start + i / kSide, column = column0 + i % kSide;
                right[i / kSide][i % kSide] = down < k && column < n ? B[down * b.pitch + column] : __float2half(0.0f);
            }
        }
        __syncthreads();
        for (int d = 0; d < kDepth; d += 16)
            for (int i = 0; i < 4; ++i) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> mine;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> theirs;
                wmma::load_matrix_sync(mine, &left[warp_row + i / 2 * 16][d], kDepth + 8);
                wmma::load_matrix_sync(theirs, &right[d][warp_column + i % 2 * 16], kSide + 8);
                wmma::mma_sync(sums[i / 2][i % 2], mine, theirs, sums[i / 2][i % 2]);
            }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        wmma::store_matrix_sync(&result[warp_row + i / 2 * 16][warp_column + i % 2 * 16], sums[i / 2][i % 2], kSide + 8,
                                wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < kSide * kSide; i += 128) {
        const int64_t row = row0 + i / kSide, column = column0 + i % kSide;
        if (row >= m || column >= n) continue;
        float value = result[i / kSide][i % kSide];
        if (kEnd == kScores) {
            scores[(pair * m + row) * n + column] = value * factor;
            continue;
        }
        if (kEnd == kGelu) value = 0.5f * value * (1.0f + erff(value * 0.70710678f));
        if (kEnd == kAdd) value += __half2float(added[row * n + column]);
        const_cast<__half*>(to.of(pair, heads))[row * to.pitch + column] = __float2half(value);
    }
}

// A warp per row: the weights of the keys up to the query, and 0 for the others.
__global__ void softmax(const float* scores, __half* weights, int64_t seq) {
    const float* row = scores + blockIdx.x * seq;
    const int64_t query = blockIdx.x % seq;
    float top = -INFINITY, total = 0.0f;
    for (int64_t key = threadIdx.x; key <= query; key += 32) top = fmaxf(top, row[key]);
    for (int offset = 16; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, offset));
    for (int64_t key = threadIdx.x; key <= query; key += 32) total += expf(row[key] - top);
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(~0u, total, offset);
    for (int64_t key = threadIdx.x; key < seq; key += 32)
        weights[blockIdx.x * seq + key] = __float2half(key <= query ? expf(row[key] - top) / total : 0.0f);
}

template <End kEnd>
static void times(const __half* a, const __half* b, const __half* added, __half* out, int64_t m, int64_t n, int64_t k) {
    const dim3 blocks((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
    product<kEnd, false><<<blocks, 128>>>({a, k, 0, 0}, {b, n, 0, 0}, {out, n, 0, 0}, added, nullptr, 1, m, n, k, 1.0f);
}

extern "C" void solve(const __half* x, const __half* gamma_1, const __half* w_qkv, const __half* w_out,
                      const __half* gamma_2, const __half* w_up, const __half* w_down, __half* out, __half* normed,
                      __half* qkv, __half* mixed, __half* middle, __half* raised, float eps, int64_t batch, int64_t seq,
                      int64_t heads, int64_t dim, int64_t hidden) {
    const int64_t rows = batch * seq, cols = heads * dim, pairs = batch * heads, of_seq = (seq + kSide - 1) / kSide;
    if (rows * cols == 0) return;
    norm<<<rows, 256>>>(x, gamma_1, normed, eps, cols);
    times<kPlain>(normed, w_qkv, nullptr, qkv, rows, 3 * cols, cols);

    float* scores = nullptr;
    __half* weights = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&scores), pairs * seq * seq * sizeof(float), nullptr);
    cudaMallocAsync(reinterpret_cast<void**>(&weights), pairs * seq * seq * sizeof(__half), nullptr);
    const Matrix q{qkv, 3 * cols, seq * 3 * cols, dim}, k{qkv + cols, 3 * cols, seq * 3 * cols, dim};
    const Matrix v{qkv + 2 * cols, 3 * cols, seq * 3 * cols, dim}, to{mixed, cols, seq * cols, dim};
    product<kScores, true><<<dim3(of_seq, of_seq, pairs), 128>>>(q, k, to, nullptr, scores, heads, seq, seq, dim,
                                                                 1.0f / sqrtf(dim));
    softmax<<<pairs * seq, 32>>>(scores, weights, seq);
    const dim3 blocks((dim + kSide - 1) / kSide, of_seq, pairs);
    product<kPlain, false><<<blocks, 128>>>({weights, seq, heads * seq * seq, seq * seq}, v, to, nullptr, nullptr, heads,
                                            seq, dim, seq, 1.0f);
    cudaFreeAsync(scores, nullptr);
    cudaFreeAsync(weights, nullptr);

    times<kAdd>(mixed, w_out, x, middle, rows, cols, cols);
    norm<<<rows, 256>>>(middle, gamma_2, normed, eps, cols);
    if (hidden > 0) times<kGelu>(normed, w_up, nullptr, raised, rows, hidden, cols);
    times<kAdd>(raised, w_down, middle, out, rows, cols, hidden);
}
