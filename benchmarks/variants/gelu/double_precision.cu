// Computes in float64, whose units are half as many, and erf takes more steps.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void gelu(const float* x, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double value = x[i];
    out[i] = static_cast<float>(0.5 * value * (1.0 + erf(value * 0.70710678118654752)));
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    gelu<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
