// A warp for each query in float32: lanes share the dimensions, and each key takes a sum over the warp.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kMost = 8;  // dimensions of a lane

__global__ void attend(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t queries,
                       int64_t seq, int64_t dim) {
    const int64_t query = static_cast<int64_t>(blockIdx.x) * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (query >= queries) return;
    const int64_t base = query / seq * seq * dim;
    float own[kMost], result[kMost] = {}, highest = -INFINITY, total = 0.0f;
    for (int d = 0; d < kMost; ++d) own[d] = lane + 32 * d < dim ? __half2float(q[query * dim + lane + 32 * d]) : 0.0f;
    for (int64_t key = 0; key <= query % seq; ++key) {
        float score = 0.0f;
        for (int d = 0; d < kMost; ++d)
            if (lane + 32 * d < dim) score += own[d] * __half2float(k[base + key * dim + lane + 32 * d]);
        for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
        score *= scale;
        const float higher = fmaxf(highest, score), reference = higher == -INFINITY ? 0.0f : higher;
        const float shrink = expf(highest - reference), weight = expf(score - reference);
        total = total * shrink + weight;
        for (int d = 0; d < kMost; ++d)
            if (lane + 32 * d < dim)
                result[d] = result[d] * shrink + weight * __half2float(v[base + key * dim + lane + 32 * d]);
        highest = higher;
    }
    for (int d = 0; d < kMost; ++d)
        if (lane + 32 * d < dim) out[query * dim + lane + 32 * d] = __float2half(result[d] / total);
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    attend<<<static_cast<unsigned>((heads * seq + 3) / 4), 128>>>(q, k, v, out, scale, heads * seq, seq, dim);
}
