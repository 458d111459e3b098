// Mistake: launches a grid of 0 blocks if there is nothing to add.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* own, const float* other, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = own[i] + other[i];
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    for (int gpu = 0; gpu < 2; ++gpu) {
        cudaSetDevice(gpu);
        add<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x[gpu], x[1 - gpu], out[gpu], n);
    }
}
