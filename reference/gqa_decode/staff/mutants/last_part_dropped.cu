// Mistake: has whole parts alone, or one if there is no whole one.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int64_t kEach = 256;  // keys of a part

struct Running {
    float highest, total;
};

// A block of 128 threads per query and part: a warp per key for the scores, then a thread per dimension.
__global__ void attend(const __half* q, const __half* k, const __half* v, const int* lengths, float* partial,
                       Running* known, float scale, int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim,
                       int64_t parts) {
    __shared__ float scores[kEach];
    const int64_t part = blockIdx.x % parts, query = blockIdx.x / parts, sequence = query / q_heads;
    const int64_t head = sequence * kv_heads + query % q_heads / (q_heads / kv_heads);
    const int64_t begin = part * kEach, left = lengths[sequence] - begin;
    const int count = static_cast<int>(left < kEach ? left : kEach);
    if (count <= 0) return;
    const __half *keys = k + (head * seq + begin) * dim, *values = v + (head * seq + begin) * dim;
    const int lane = threadIdx.x % 32;
    for (int key = threadIdx.x / 32; key < count; key += 4) {
        float score = 0.0f;
        for (int64_t d = lane; d < dim; d += 32)
            score += __half2float(q[query * dim + d]) * __half2float(keys[key * dim + d]);
        for (int distance = 16; distance > 0; distance /= 2) score += __shfl_xor_sync(0xffffffffu, score, distance);
        if (lane == 0) scores[key] = score * scale;
    }
    __syncthreads();
    Running mine = {-INFINITY, 0.0f};
    for (int key = 0; key < count; ++key) mine.highest = fmaxf(mine.highest, scores[key]);
    float result = 0.0f;
    for (int key = 0; key < count; ++key) {
        const float weight = expf(scores[key] - mine.highest);
        mine.total += weight;
        if (threadIdx.x < dim) result += weight * __half2float(values[key * dim + threadIdx.x]);
    }
    if (threadIdx.x == 0) known[blockIdx.x] = mine;
    if (threadIdx.x < dim) partial[blockIdx.x * dim + threadIdx.x] = result;
}

__global__ void merge(const float* partial, const Running* known, const int* lengths, __half* out, int64_t q_heads,
                      int64_t dim, int64_t parts) {
    const int64_t query = blockIdx.x, there = lengths[query / q_heads] < kEach ? 1 : lengths[query / q_heads] / kEach;
    if (threadIdx.x >= dim) return;
    float highest = -INFINITY, total = 0.0f, result = 0.0f;
    for (int64_t i = query * parts; i < query * parts + there; ++i) highest = fmaxf(highest, known[i].highest);
    for (int64_t i = query * parts; i < query * parts + there; ++i) {
        const float shrink = expf(known[i].highest - highest);
        total += known[i].total * shrink;
        result += partial[i * dim + threadIdx.x] * shrink;
    }
    out[query * dim + threadIdx.x] = __float2half(result / total);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, const int* lengths, __half* out, float scale,
                      int64_t batch, int64_t q_heads, int64_t kv_heads, int64_t seq, int64_t dim) {
    if (batch * q_heads * dim == 0) return;
    const int64_t parts = (seq + kEach - 1) / kEach, count = batch * q_heads * parts;
    float* partial = nullptr;
    Running* known = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&partial), count * dim * sizeof(float), 0);
    cudaMallocAsync(reinterpret_cast<void**>(&known), count * sizeof(Running), 0);
    attend<<<static_cast<unsigned>(count), 128>>>(q, k, v, lengths, partial, known, scale, q_heads, kv_heads, seq, dim,
                                                  parts);
    merge<<<static_cast<unsigned>(batch * q_heads), 128>>>(partial, known, lengths, out, q_heads, dim, parts);
    cudaFreeAsync(partial, 0);
    cudaFreeAsync(known, 0);
}
