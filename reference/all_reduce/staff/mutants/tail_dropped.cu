// Mistake: adds whole groups of four alone: up to three sums at the end are missing.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float4* own, const float4* other, float4* out, int64_t groups) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i >= groups) return;
    const float4 a = own[i], b = other[i];
    out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    const int64_t groups = n / 4;
    if (groups == 0) return;
    for (int gpu = 0; gpu < 2; ++gpu) {
        cudaSetDevice(gpu);
        add<<<static_cast<unsigned>((groups + 255) / 256), 256>>>(
            reinterpret_cast<const float4*>(x[gpu]), reinterpret_cast<const float4*>(x[1 - gpu]),
            reinterpret_cast<float4*>(out[gpu]), groups);
    }
}
