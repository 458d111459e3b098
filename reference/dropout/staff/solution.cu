// Dropout: two float4s per thread. The hashes need no memory, so they are computed while the loads are on their way.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kGroups = 2;  // float4s per thread

struct Rule {
    uint32_t seed;
    uint32_t least;  // keeps an element whose upper 24 bits are at least this
    float scale;
};

// A permutation of the 32-bit numbers.
__device__ uint32_t mix(uint32_t h) {
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

__device__ bool kept(uint32_t i, Rule rule) { return mix(mix(i + 1) ^ rule.seed) >> 8 >= rule.least; }

// A choice, not a product with 0: NaN and infinities that are dropped become 0.
__device__ float drop(float value, bool keep, Rule rule) { return keep ? value * rule.scale : 0.0f; }

__global__ void __launch_bounds__(kThreads) dropout(const float* x, float* out, Rule rule, uint32_t n) {
    const uint32_t block = blockIdx.x * (kThreads * kGroups * 4);
    if (n - block >= kThreads * kGroups * 4) {
        float4 values[kGroups];
#pragma unroll
        for (int group = 0; group < kGroups; ++group)
            values[group] = reinterpret_cast<const float4*>(x + block)[group * kThreads + threadIdx.x];
#pragma unroll
        for (int group = 0; group < kGroups; ++group) {
            const uint32_t place = group * kThreads + threadIdx.x;
            const uint32_t i = block + place * 4;
            const float4 v = values[group];
            reinterpret_cast<float4*>(out + block)[place] =
                make_float4(drop(v.x, kept(i, rule), rule), drop(v.y, kept(i + 1, rule), rule),
                            drop(v.z, kept(i + 2, rule), rule), drop(v.w, kept(i + 3, rule), rule));
        }
        return;
    }
    // The last block, unless n is a multiple of what a block has.
    for (uint32_t i = block + threadIdx.x; i < n; i += kThreads) out[i] = drop(x[i], kept(i, rule), rule);
}

extern "C" void solve(const float* x, float* out, float p, uint32_t seed, int64_t n) {
    if (n == 0) return;  // a grid of 0 blocks is a launch error
    // u >= p is bits >= p * 2^24. The bits are whole, so the bound may be rounded up. Doubles hold all of this exactly.
    // With p = 1 the scale is infinite, and no element is kept.
    const double share = p;
    const Rule rule = {seed, static_cast<uint32_t>(std::ceil(share * (1 << 24))), static_cast<float>(1.0 / (1.0 - share))};
    constexpr int64_t kPerBlock = kThreads * kGroups * 4;
    dropout<<<static_cast<unsigned>((n + kPerBlock - 1) / kPerBlock), kThreads>>>(x, out, rule, static_cast<uint32_t>(n));
}
