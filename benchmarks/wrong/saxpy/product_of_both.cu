// Mistake: alpha * x is multiplied by y, not added to it.
// Says: (multipl|times) ; (added|add|\+)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const float* x, float* y, float alpha, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] *= alpha * x[i];
}
extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n) f<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
