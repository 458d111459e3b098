// Mistake: Phi(x) is returned, without the factor x.
// Says: \bx\b ; (divided by x|factor|multipl|times)
#include <cstdint>
__global__ void gelu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * (1.0f + erff(x[i] * 0.70710678118f));
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) gelu<<<(n + 255) / 256, 256>>>(x, out, n);
}
