// Mistake: adds up the weighted values with __hfma, in float16: long sums of one sign stop growing.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__device__ float score_of(const __half* query, const __half* key, float scale, int64_t dim) {
    float score = 0.0f;
    for (int64_t d = 0; d < dim; ++d) score += __half2float(query[d]) * __half2float(key[d]);
    return score * scale;
}

// One thread per query: the highest score first, then weights and sums.
__global__ void attend(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                       int64_t seq, int64_t dim) {
    const int64_t query = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (query >= heads * seq) return;
    const int64_t head = query / seq * seq;
    float highest = -INFINITY, total = 0.0f;
    for (int64_t key = head; key <= query; ++key)
        highest = fmaxf(highest, score_of(q + query * dim, k + key * dim, scale, dim));
    for (int64_t key = head; key <= query; ++key)
        total += expf(score_of(q + query * dim, k + key * dim, scale, dim) - highest);
    for (int64_t d = 0; d < dim; ++d) {
        __half result = __float2half(0.0f);
        for (int64_t key = head; key <= query; ++key) {
            const float weight = expf(score_of(q + query * dim, k + key * dim, scale, dim) - highest);
            result = __hfma(__float2half(weight / total), v[key * dim + d], result);
        }
        out[query * dim + d] = result;
    }
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    const int64_t blocks = (heads * seq + kThreads - 1) / kThreads;
    attend<<<static_cast<unsigned>(blocks), kThreads>>>(q, k, v, out, scale, heads, seq, dim);
}
