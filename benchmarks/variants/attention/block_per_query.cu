// A block for each query, in two passes over stretches of 256 keys: a thread for each score, then a thread for each
// dimension of the result.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

template <bool Max>
__device__ float over_block(float value) {
    __shared__ float parts[kThreads / 32];
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, step);
        value = Max ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int i = 1; i < kThreads / 32; ++i) value = Max ? fmaxf(value, parts[i]) : value + parts[i];
    return value;
}

__global__ void attend(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int dim) {
    __shared__ float own[kThreads], weights[kThreads];
    const int64_t head = blockIdx.y * seq * dim, query = head + static_cast<int64_t>(blockIdx.x) * dim;
    const int thread = threadIdx.x;
    if (thread < dim) own[thread] = q[query + thread];
    float result = 0.0f, highest = -INFINITY, total = 0.0f;
    for (int64_t start = 0; start < seq; start += kThreads) {
        __syncthreads();
        const int64_t key = start + thread;
        float score = key < seq ? 0.0f : -INFINITY;
        if (key < seq) {
            for (int d = 0; d < dim; ++d) score += own[d] * k[head + key * dim + d];
            score *= scale;
        }
        const float higher = fmaxf(highest, over_block<true>(score)), reference = higher == -INFINITY ? 0.0f : higher;
        const float shrink = expf(highest - reference);
        weights[thread] = expf(score - reference);
        total = total * shrink + over_block<false>(weights[thread]);
        __syncthreads();
        if (thread < dim) {
            const int64_t left = seq - start < kThreads ? seq - start : kThreads;
            result *= shrink;
            for (int64_t i = 0; i < left; ++i) result += weights[i] * v[head + (start + i) * dim + thread];
        }
        highest = higher;
    }
    if (thread < dim) out[query + thread] = result / total;
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    attend<<<dim3(static_cast<unsigned>(seq), static_cast<unsigned>(heads)), kThreads>>>(
        q, k, v, out, scale, seq, static_cast<int>(dim));
}
