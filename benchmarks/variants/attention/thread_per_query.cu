// A thread for each query, its query and result in registers: a block of 64 shares keys and values in shared memory.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 64, kKeys = 16;

template <int Width>
__global__ void attend(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int dim,
                       int64_t blocks) {
    __shared__ float keys[kKeys][Width], values[kKeys][Width];
    const int64_t head = blockIdx.x / blocks * seq * dim, query = blockIdx.x % blocks * kThreads + threadIdx.x;
    float own[Width], result[Width], highest = -INFINITY, total = 0.0f;
#pragma unroll
    for (int d = 0; d < Width; ++d) {
        own[d] = query < seq && d < dim ? q[head + query * dim + d] : 0.0f;
        result[d] = 0.0f;
    }
    for (int64_t start = 0; start < seq; start += kKeys) {
        __syncthreads();
        for (int i = threadIdx.x; i < kKeys * Width; i += kThreads) {
            const int key = i / Width, d = i % Width;
            const bool inside = start + key < seq && d < dim;
            keys[key][d] = inside ? k[head + (start + key) * dim + d] : 0.0f;
            values[key][d] = inside ? v[head + (start + key) * dim + d] : 0.0f;
        }
        __syncthreads();
        for (int key = 0; key < kKeys && start + key < seq; ++key) {
            float score = 0.0f;
#pragma unroll
            for (int d = 0; d < Width; ++d) score += own[d] * keys[key][d];
            score *= scale;
            const float higher = fmaxf(highest, score), reference = higher == -INFINITY ? 0.0f : higher;
            const float shrink = expf(highest - reference), weight = expf(score - reference);
            total = total * shrink + weight;
#pragma unroll
            for (int d = 0; d < Width; ++d) result[d] = result[d] * shrink + weight * values[key][d];
            highest = higher;
        }
    }
#pragma unroll
    for (int d = 0; d < Width; ++d)
        if (query < seq && d < dim) out[head + query * dim + d] = result[d] / total;
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    const int64_t blocks = (seq + kThreads - 1) / kThreads;
    const unsigned grid = static_cast<unsigned>(blocks * heads);
    const int width = static_cast<int>(dim);
    if (dim <= 64)
        attend<64><<<grid, kThreads>>>(q, k, v, out, scale, seq, width, blocks);
    else
        attend<256><<<grid, kThreads>>>(q, k, v, out, scale, seq, width, blocks);
}
