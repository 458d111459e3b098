// Mistake: the table is not read: pages are taken in their order in memory.
// Says: \btable\b
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

// A block for each query: a thread for each key of a piece, then a thread for each dimension.
__global__ void decode(const __half* q, const __half* k_pages, const __half* v_pages, const int* table,
                       const int* lengths, __half* out, float scale, int64_t q_heads, int64_t kv_heads, int64_t pages,
                       int64_t page_size, int64_t max_pages, int64_t dim) {
    __shared__ float scores[kThreads];
    __shared__ int64_t places[kThreads];
    const int64_t query = blockIdx.x, sequence = query / q_heads, thread = threadIdx.x;
    const int64_t head = query % q_heads / (q_heads / kv_heads), length = lengths[sequence];
    float top = -INFINITY, total = 0.0f, sum = 0.0f;
    for (int64_t first = 0; first < length; first += kThreads) {
        const int64_t left = min(length - first, static_cast<int64_t>(kThreads));
        if (thread < left) {
            const int64_t key = first + thread, page = sequence * max_pages + key / page_size;
            const int64_t place = ((page * page_size + key % page_size) * kv_heads + head) * dim;
            float score = 0.0f;
            for (int64_t e = 0; e < dim; ++e)
                score += __half2float(q[query * dim + e]) * __half2float(k_pages[place + e]);
            scores[thread] = score * scale;
            places[thread] = place;
        }
        __syncthreads();
        for (int64_t j = 0; j < left; ++j) {
            const float score = scores[j], higher = fmaxf(top, score);
            const float shrink = expf(top - higher), weight = expf(score - higher);
            total = total * shrink + weight;
            if (thread < dim) sum = sum * shrink + weight * __half2float(v_pages[places[j] + thread]);
            top = higher;
        }
        __syncthreads();
    }
    if (thread < dim) out[query * dim + thread] = __float2half(length > 0 ? sum / total : 0.0f);
}

extern "C" void solve(const __half* q, const __half* k_pages, const __half* v_pages, const int* table,
                      const int* lengths, __half* out, float scale, int64_t sequences, int64_t q_heads, int64_t kv_heads,
                      int64_t pages, int64_t page_size, int64_t max_pages, int64_t dim) {
    if (sequences * q_heads * dim == 0) return;
    decode<<<static_cast<unsigned>(sequences * q_heads), kThreads>>>(q, k_pages, v_pages, table, lengths, out, scale,
                                                                    q_heads, kv_heads, pages, page_size, max_pages, dim);
}
