// Mistake: both halves have n / 2 elements: if n is odd, nobody computes the last sum.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* own, const float* other, float* out, float* others_out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = others_out[i] = own[i] + other[i];
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    const int64_t half = n / 2;
    if (half == 0) return;
    for (int gpu = 0; gpu < 2; ++gpu) {
        const int64_t first = gpu * half;
        cudaSetDevice(gpu);
        add<<<static_cast<unsigned>((half + 255) / 256), 256>>>(x[gpu] + first, x[1 - gpu] + first, out[gpu] + first,
                                                                out[1 - gpu] + first, half);
    }
}
