// Mistake: a parenthesis is missing: x / 2 * 1 + erf(...).
// Says: (erf|parenthes|x / 2|0\.5|half) ; (added|parenthes|multipl|without|plus|not)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void gelu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * x[i] * 1.0f + erff(x[i] * 0.70710678f);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) gelu<<<(n + 255) / 256, 256>>>(x, out, n);
}
