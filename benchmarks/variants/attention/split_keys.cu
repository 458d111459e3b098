// Keys are split between four blocks, a warp for each query and part; a second launch puts the parts together.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kMost = 8, kParts = 4, kWarps = 4;  // kMost: dimensions of a lane

__global__ void attend(const float* q, const float* k, const float* v, float* parts, float2* sums, float scale,
                       int64_t queries, int64_t seq, int64_t dim) {
    const int64_t query = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32, part = blockIdx.y;
    if (query >= queries) return;
    const int64_t base = query / seq * seq * dim, each = (seq + kParts - 1) / kParts;
    const int64_t end = (part + 1) * each < seq ? (part + 1) * each : seq;
    float own[kMost], result[kMost] = {}, highest = -INFINITY, total = 0.0f;
    for (int d = 0; d < kMost; ++d) own[d] = lane + 32 * d < dim ? q[query * dim + lane + 32 * d] : 0.0f;
    for (int64_t key = part * each; key < end; ++key) {
        float score = 0.0f;
        for (int d = 0; d < kMost; ++d)
            if (lane + 32 * d < dim) score += own[d] * k[base + key * dim + lane + 32 * d];
        for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
        score *= scale;
        const float higher = fmaxf(highest, score), reference = higher == -INFINITY ? 0.0f : higher;
        const float shrink = expf(highest - reference), weight = expf(score - reference);
        total = total * shrink + weight;
        for (int d = 0; d < kMost; ++d)
            if (lane + 32 * d < dim) result[d] = result[d] * shrink + weight * v[base + key * dim + lane + 32 * d];
        highest = higher;
    }
    for (int d = 0; d < kMost; ++d)
        if (lane + 32 * d < dim) parts[(part * queries + query) * dim + lane + 32 * d] = result[d];
    if (lane == 0) sums[part * queries + query] = make_float2(highest, total);
}

__global__ void combine(const float* parts, const float2* sums, float* out, int64_t queries, int64_t dim) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
    if (i >= queries * dim) return;
    float highest = -INFINITY, total = 0.0f, result = 0.0f;
    for (int part = 0; part < kParts; ++part) highest = fmaxf(highest, sums[part * queries + i / dim].x);
    if (highest == -INFINITY) highest = 0.0f;
    for (int part = 0; part < kParts; ++part) {
        const float2 sum = sums[part * queries + i / dim];
        const float weight = expf(sum.x - highest);
        total += weight * sum.y;
        result += weight * parts[part * queries * dim + i];
    }
    out[i] = result / total;
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    const int64_t queries = heads * seq;
    if (queries == 0 || dim == 0) return;
    float* parts = nullptr;
    float2* sums = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&parts), kParts * queries * dim * sizeof(float), 0) != cudaSuccess) return;
    if (cudaMallocAsync(reinterpret_cast<void**>(&sums), kParts * queries * sizeof(float2), 0) != cudaSuccess) return;
    attend<<<dim3(static_cast<unsigned>((queries + kWarps - 1) / kWarps), kParts), 32 * kWarps>>>(
        q, k, v, parts, sums, scale, queries, seq, dim);
    combine<<<static_cast<unsigned>((queries * dim + 255) / 256), 256>>>(parts, sums, out, queries, dim);
    cudaFreeAsync(parts, 0);
    cudaFreeAsync(sums, 0);
}
