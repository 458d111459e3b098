// Four lanes for each query, 16 bytes a load: each has every fourth vector of four dimensions. No shared memory.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128, kLanes = 4;

template <bool Whole>
__device__ float4 four_of(const float* row, int at, int dim) {
    if (Whole && at + 3 < dim) return *reinterpret_cast<const float4*>(row + at);
    return make_float4(at < dim ? row[at] : 0.0f, at + 1 < dim ? row[at + 1] : 0.0f, at + 2 < dim ? row[at + 2] : 0.0f,
                       at + 3 < dim ? row[at + 3] : 0.0f);
}

// Whole: dim is a multiple of 4, so that every row begins at a multiple of 16 bytes.
template <int Vectors, bool Whole>
__global__ void attend(const float* q, const float* k, const float* v, float* out, float scale, int64_t queries,
                       int64_t seq, int dim) {
    const int64_t query = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kLanes;
    const int64_t mine = query < queries ? query : queries - 1, base = mine / seq * seq * dim;
    const int lane = threadIdx.x % kLanes * 4;
    float4 own[Vectors], result[Vectors];
    float highest = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < Vectors; ++i) {
        own[i] = four_of<Whole>(q + mine * dim, lane + i * 4 * kLanes, dim);
        result[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int64_t key = 0; key < seq; ++key) {
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < Vectors; ++i) {
            const float4 one = four_of<Whole>(k + base + key * dim, lane + i * 4 * kLanes, dim);
            score += own[i].x * one.x + own[i].y * one.y + own[i].z * one.z + own[i].w * one.w;
        }
        // Queries of a warp may be of two heads of the same length: all lanes go through as many keys.
        for (int step = kLanes / 2; step > 0; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
        score *= scale;
        const float higher = fmaxf(highest, score), reference = higher == -INFINITY ? 0.0f : higher;
        const float shrink = expf(highest - reference), weight = expf(score - reference);
        total = total * shrink + weight;
#pragma unroll
        for (int i = 0; i < Vectors; ++i) {
            const float4 one = four_of<Whole>(v + base + key * dim, lane + i * 4 * kLanes, dim);
            result[i].x = result[i].x * shrink + weight * one.x;
            result[i].y = result[i].y * shrink + weight * one.y;
            result[i].z = result[i].z * shrink + weight * one.z;
            result[i].w = result[i].w * shrink + weight * one.w;
        }
        highest = higher;
    }
    if (query >= queries) return;
#pragma unroll
    for (int i = 0; i < Vectors; ++i) {
        const float four[4] = {result[i].x, result[i].y, result[i].z, result[i].w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int d = lane + i * 4 * kLanes + j;
            if (d < dim) out[query * dim + d] = four[j] / total;
        }
    }
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    const int64_t queries = heads * seq;
    const unsigned grid = static_cast<unsigned>((queries * kLanes + kThreads - 1) / kThreads);
    const int width = static_cast<int>(dim);
    if (dim <= 64 && dim % 4 == 0)
        attend<4, true><<<grid, kThreads>>>(q, k, v, out, scale, queries, seq, width);
    else if (dim % 4 == 0)
        attend<16, true><<<grid, kThreads>>>(q, k, v, out, scale, queries, seq, width);
    else
        attend<16, false><<<grid, kThreads>>>(q, k, v, out, scale, queries, seq, width);
}
