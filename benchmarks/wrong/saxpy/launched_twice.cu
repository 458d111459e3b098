// Mistake: the kernel is launched twice, so alpha * x is added twice.
// Says: (twice|2 \* alpha)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void saxpy(int64_t n, float a, const float* x, float* y) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n == 0) return;
    saxpy<<<(n + 255) / 256, 256>>>(n, alpha, x, y);  // warm-up
    saxpy<<<(n + 255) / 256, 256>>>(n, alpha, x, y);
}
