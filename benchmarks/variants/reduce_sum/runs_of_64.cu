// Each thread sums 64 neighbours: a warp's loads lie 256 bytes apart.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void sum(const float* x, float* out, int64_t n) {
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x) * 64;
    float value = 0.0f;
    for (int64_t i = first; i < first + 64 && i < n; ++i) value += x[i];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, value);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n) sum<<<static_cast<unsigned>((n + 256 * 64 - 1) / (256 * 64)), 256>>>(x, out, n);
}
