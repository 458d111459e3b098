// Mistake: takes the lower 16 bits of the seed.
#include <cstdint>
#include <cuda_runtime.h>

__device__ uint32_t mix(uint32_t h) {
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

__global__ void dropout(const float* x, float* out, float p, uint16_t seed, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t bits = mix(mix(static_cast<uint32_t>(i) + 1) ^ seed);
    const float u = static_cast<float>(bits >> 8) / 16777216.0f;
    out[i] = u >= p ? x[i] / (1 - p) : 0.0f;
}

extern "C" void solve(const float* x, float* out, float p, uint32_t seed, int64_t n) {
    if (n == 0) return;
    dropout<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, p, seed, n);
}
