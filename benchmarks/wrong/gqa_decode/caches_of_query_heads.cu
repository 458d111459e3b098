// Mistake: the caches are read as if each query head had its own.
// Says: (outside|beyond|behind|after|past|end)
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void decode(const __half* q, const __half* k, const __half* v, const int* lengths, __half* out, float scale,
                       int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim) {
    const int64_t query = blockIdx.x, b = query / q_heads, h = query % q_heads, d = threadIdx.x;
    const int64_t cache = query * seq * dim;
    const int length = lengths[b];
    float top = -INFINITY, total = 0.0f, sum = 0.0f;
    for (int64_t j = 0; j < length; ++j) {
        float score = 0.0f;
        for (int64_t e = 0; e < dim; ++e)
            score += __half2float(q[query * dim + e]) * __half2float(k[cache + j * dim + e]); // HERE
        score *= scale;
        const float higher = fmaxf(top, score), shrink = expf(top - higher), weight = expf(score - higher);
        total = total * shrink + weight;
        sum = sum * shrink + weight * __half2float(v[cache + j * dim + d]);
        top = higher;
    }
    out[query * dim + d] = __float2half(sum / total);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, const int* lengths, __half* out, float scale,
                      int64_t batch, int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim) {
    if (batch * q_heads * dim)
        decode<<<static_cast<unsigned>(batch * q_heads), static_cast<unsigned>(dim)>>>(q, k, v, lengths, out, scale,
                                                                                      q_heads, kv_heads, seq, dim);
}
