// Mistake: launches at most 1024 blocks, as a grid-stride loop would need, and has no loop.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void relu(const float* x, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] < 0 ? 0.0f : x[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    const int64_t blocks = (n + 255) / 256;
    relu<<<static_cast<unsigned>(blocks < 1024 ? blocks : 1024), 256>>>(x, out, n);
}
