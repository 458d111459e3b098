// Each warp adds its 32 elements to the result by an atomic of its own.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void sum(const float* x, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, value);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n) sum<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
