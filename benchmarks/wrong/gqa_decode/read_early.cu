// Mistake: no barrier between the threads that write the scores of a piece and those that read them.
// Says: __syncthreads|barrier
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void decode(const __half* q, const __half* k, const __half* v, const int* lengths, __half* out, float scale,
                       int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim) {
    __shared__ float scores[kThreads];
    const int64_t query = blockIdx.x, b = query / q_heads, h = query % q_heads, d = threadIdx.x;
    const int64_t cache = (b * kv_heads + h / (q_heads / kv_heads)) * seq * dim;
    const int64_t length = lengths[b];
    float top = -INFINITY, total = 0.0f, sum = 0.0f;
    for (int64_t first = 0; first < length; first += kThreads) {
        const int64_t left = min(length - first, static_cast<int64_t>(kThreads));
        if (d < left) {
            float score = 0.0f;
            for (int64_t e = 0; e < dim; ++e)
                score += __half2float(q[query * dim + e]) * __half2float(k[cache + (first + d) * dim + e]);
            scores[d] = score * scale; // HERE
        }
        for (int64_t j = 0; j < left; ++j) {
            const float score = scores[j], higher = fmaxf(top, score); // HERE
            const float shrink = expf(top - higher), weight = expf(score - higher);
            total = total * shrink + weight;
            if (d < dim) sum = sum * shrink + weight * __half2float(v[cache + (first + j) * dim + d]);
            top = higher;
        }
        __syncthreads();
    }
    if (d < dim) out[query * dim + d] = __float2half(sum / total);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, const int* lengths, __half* out, float scale,
                      int64_t batch, int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim) {
    if (batch * q_heads * dim)
        decode<<<static_cast<unsigned>(batch * q_heads), kThreads>>>(q, k, v, lengths, out, scale, q_heads, kv_heads,
                                                                      seq, dim);
}
