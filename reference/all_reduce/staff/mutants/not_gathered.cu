// Mistake: a reduce-scatter without the all-gather: each GPU has the sums of its half alone.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* own, const float* other, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = own[i] + other[i];
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    const int64_t half = n / 2;
    for (int gpu = 0; gpu < 2; ++gpu) {
        const int64_t first = gpu * half, count = gpu == 0 ? half : n - half;
        if (count == 0) continue;
        cudaSetDevice(gpu);
        add<<<static_cast<unsigned>((count + 255) / 256), 256>>>(x[gpu] + first, x[1 - gpu] + first, out[gpu] + first,
                                                                 count);
    }
}
