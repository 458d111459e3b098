// Mistake on a GPU: counts elements in int, which beyond 2^31 is negative.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void relu(const float* x, float* out, int64_t n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= 0 && i < n) out[i] = x[i] < 0 ? 0.0f : x[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    relu<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
