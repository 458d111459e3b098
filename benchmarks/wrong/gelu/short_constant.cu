// Mistake: 1 / sqrt(2) is written with three digits.
// Says: (0\.707|digits|constant)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void gelu(const float* x, float* y, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.707f)); // HERE
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) gelu<<<(n + 255) / 256, 256>>>(x, out, n);
}
