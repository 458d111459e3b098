// A thread for each query in float32, its query and result in registers; keys and values are read from global memory by
// all threads of a warp at once. A block goes as far as its last query.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kThreads = 32;

template <int Width>
__global__ void attend(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t seq,
                       int dim, int64_t blocks) {
    const int64_t head = blockIdx.x / blocks * seq * dim, query = blockIdx.x % blocks * kThreads + threadIdx.x;
    if (query >= seq) return;
    float own[Width], result[Width], highest = -INFINITY, total = 0.0f;
#pragma unroll
    for (int d = 0; d < Width; ++d) {
        own[d] = d < dim ? __half2float(q[head + query * dim + d]) : 0.0f;
        result[d] = 0.0f;
    }
    for (int64_t key = 0; key <= query; ++key) {
        const __half *theirs = k + head + key * dim, *value = v + head + key * dim;
        float score = 0.0f;
#pragma unroll
        for (int d = 0; d < Width; ++d)
            if (d < dim) score += own[d] * __half2float(theirs[d]);
        score *= scale;
        const float higher = fmaxf(highest, score), reference = higher == -INFINITY ? 0.0f : higher;
        const float shrink = expf(highest - reference), weight = expf(score - reference);
        total = total * shrink + weight;
#pragma unroll
        for (int d = 0; d < Width; ++d)
            if (d < dim) result[d] = result[d] * shrink + weight * __half2float(value[d]);
        highest = higher;
    }
#pragma unroll
    for (int d = 0; d < Width; ++d)
        if (d < dim) out[head + query * dim + d] = __float2half(result[d] / total);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    const int64_t blocks = (seq + kThreads - 1) / kThreads;
    const unsigned grid = static_cast<unsigned>(blocks * heads);
    const int width = static_cast<int>(dim);
    if (dim <= 64)
        attend<64><<<grid, kThreads>>>(q, k, v, out, scale, seq, width, blocks);
    else
        attend<256><<<grid, kThreads>>>(q, k, v, out, scale, seq, width, blocks);
}
