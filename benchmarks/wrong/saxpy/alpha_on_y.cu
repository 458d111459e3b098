// Mistake: alpha multiplies y instead of x.
// Says: \bx\b ; \by\b ; exchanged|swapped
#include <cuda_runtime.h>
#include <cstdint>

__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + alpha * y[i];
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n) saxpy<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
