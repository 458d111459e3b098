// Mistake: sums by shuffles and takes that for the sum of the block. A shuffle reaches the 32 lanes of its own warp;
// the other seven warps of the block are left out.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void add_up(const float* a, const float* b, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    float value = i < n ? a[i] * b[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    if (threadIdx.x == 0) atomicAdd(out, value);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n == 0) return;
    add_up<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(a, b, out, n);
}
