// Mistake: alpha multiplies the sum of x and y.
// Says: alpha ; (\by\b|both|sum)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * (x[i] + y[i]);
}
extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n) saxpy<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
