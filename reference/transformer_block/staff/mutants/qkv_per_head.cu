// Mistake: Takes a row of qkv for [heads][3][dim] instead of [3][heads][dim].
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kTile = 16;

// A warp per row.
__global__ void norm(const __half* x, const __half* gamma, __half* out, float eps, int64_t cols) {
    const __half* row = x + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += 32) squares += __half2float(row[c]) * __half2float(row[c]);
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(~0u, squares, offset);
    const float factor = rsqrtf(squares / cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += 32)
        out[blockIdx.x * cols + c] = __float2half(__half2float(row[c]) * factor * __half2float(gamma[c]));
}

// A block per tile. end: 0 as it is, 1 GELU, 2 added.
__global__ void product(const __half* a, const __half* b, const __half* added, __half* out, int64_t m, int64_t n,
                        int64_t k, int end) {
    __shared__ float left[kTile][kTile + 1], right[kTile][kTile + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int64_t row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
    float sum = 0.0f;
    for (int64_t start = 0; start < k; start += kTile) {
        left[y][x] = row < m && start + x < k ? __half2float(a[row * k + start + x]) : 0.0f;
        right[y][x] = start + y < k && column < n ? __half2float(b[(start + y) * n + column]) : 0.0f;
        __syncthreads();
        for (int d = 0; d < kTile; ++d) sum += left[y][d] * right[d][x];
        __syncthreads();
    }
    if (row >= m || column >= n) return;
    if (end == 1) sum = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
    if (end == 2) sum += __half2float(added[row * n + column]);
    out[row * n + column] = __float2half(sum);
}

// A warp per query and head; a lane has every 32nd dimension.
__global__ void attend(const __half* qkv, __half* mixed, float scale, int64_t seq, int64_t heads, int64_t dim) {
    const int64_t columns = heads * dim, pair = blockIdx.x / seq, query = blockIdx.x % seq;
    const int64_t head = pair % heads * dim, first_row = pair / heads * seq;
    const __half* start = qkv + first_row * 3 * columns + 3 * head;
    const int lane = threadIdx.x;
    float top = -INFINITY, total = 0.0f, result[4] = {};
    for (int64_t key = 0; key <= query; ++key) {
        const __half* q = start + query * 3 * columns;
        const __half* k = start + key * 3 * columns + dim;
        const __half* v = start + key * 3 * columns + 2 * dim;
        float score = 0.0f;
        for (int64_t d = lane; d < dim; d += 32) score += __half2float(q[d]) * __half2float(k[d]);
        for (int offset = 16; offset > 0; offset /= 2) score += __shfl_xor_sync(~0u, score, offset);
        score *= scale;
        const float higher = fmaxf(top, score), shrink = expf(top - higher), weight = expf(score - higher);
        total = total * shrink + weight;
        for (int i = 0; i * 32 + lane < dim; ++i)
            result[i] = result[i] * shrink + weight * __half2float(v[i * 32 + lane]);
        top = higher;
    }
    for (int i = 0; i * 32 + lane < dim; ++i)
        mixed[(first_row + query) * columns + head + i * 32 + lane] = __float2half(result[i] / total);
}

static void times(const __half* a, const __half* b, const __half* added, __half* out, int64_t m, int64_t n, int64_t k,
                  int end) {
    const dim3 blocks((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    product<<<blocks, dim3(kTile, kTile)>>>(a, b, added, out, m, n, k, end);
}

extern "C" void solve(const __half* x, const __half* gamma_1, const __half* w_qkv, const __half* w_out,
                      const __half* gamma_2, const __half* w_up, const __half* w_down, __half* out, __half* normed,
                      __half* qkv, __half* mixed, __half* middle, __half* raised, float eps, int64_t batch, int64_t seq,
                      int64_t heads, int64_t dim, int64_t hidden) {
    const int64_t rows = batch * seq, cols = heads * dim;
    if (rows * cols == 0) return;
    norm<<<rows, 32>>>(x, gamma_1, normed, eps, cols);
    times(normed, w_qkv, nullptr, qkv, rows, 3 * cols, cols, 0);
    attend<<<rows * heads, 32>>>(qkv, mixed, 1.0f / sqrtf(dim), seq, heads, dim);
    times(mixed, w_out, x, middle, rows, cols, cols, 2);
    norm<<<rows, 32>>>(middle, gamma_2, normed, eps, cols);
    if (hidden > 0) times(normed, w_up, nullptr, raised, rows, hidden, cols, 1);
    times(raised, w_down, middle, out, rows, cols, hidden, 2);
}
