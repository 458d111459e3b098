// Mistake: works on float4 alone and forgets the tail, so the last n % 4 elements are never written.
#include <cstdint>
#include <cuda_runtime.h>

__device__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__global__ void gelu_kernel(const float4* x, float4* out, int64_t quads) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const float4 it = x[i];
    out[i] = make_float4(gelu(it.x), gelu(it.y), gelu(it.z), gelu(it.w));
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    const int64_t quads = n / 4;
    if (quads == 0) return;
    gelu_kernel<<<static_cast<unsigned>((quads + 255) / 256), 256>>>(
        reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out), quads);
}
