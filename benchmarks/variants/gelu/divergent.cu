// Every second lane of a warp takes the other branch, and both compute the same: the warp goes through it twice.
#include <cstdint>
#include <cuda_runtime.h>

__device__ __noinline__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__global__ void gelu_all(const float* x, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    switch (threadIdx.x % 4) {
        case 0: out[i] = gelu(x[i]); break;
        case 1: out[i] = -gelu(x[i]) * -1.0f; break;
        case 2: out[i] = gelu(x[i] * 1.0f) + 0.0f; break;
        default: out[i] = 1.0f * gelu(x[i]);
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    gelu_all<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
