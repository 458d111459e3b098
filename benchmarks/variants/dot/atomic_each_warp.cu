// Each warp adds its 32 products to the result by an atomic of its own.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void dot(const float* a, const float* b, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    float value = i < n ? a[i] * b[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, value);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n) dot<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
