// Mistake: the search for the highest score begins at 0: where all scores are low, every exponential is 0.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__device__ float score_of(const float* query, const float* key, float scale, int64_t dim) {
    float score = 0.0f;
    for (int64_t d = 0; d < dim; ++d) score += query[d] * key[d];
    return score * scale;
}

// One thread per query: the highest score first, then weights and sums.
__global__ void attend(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                       int64_t seq, int64_t dim) {
    const int64_t query = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (query >= heads * seq) return;
    const int64_t head = query / seq * seq;
    float highest = 0.0f, total = 0.0f;
    for (int64_t key = head; key < head + seq; ++key)
        highest = fmaxf(highest, score_of(q + query * dim, k + key * dim, scale, dim));
    for (int64_t key = head; key < head + seq; ++key)
        total += expf(score_of(q + query * dim, k + key * dim, scale, dim) - highest);
    for (int64_t d = 0; d < dim; ++d) {
        float result = 0.0f;
        for (int64_t key = head; key < head + seq; ++key)
            result += expf(score_of(q + query * dim, k + key * dim, scale, dim) - highest) * v[key * dim + d];
        out[query * dim + d] = result / total;
    }
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    const int64_t blocks = (heads * seq + kThreads - 1) / kThreads;
    attend<<<static_cast<unsigned>(blocks), kThreads>>>(q, k, v, out, scale, heads, seq, dim);
}
