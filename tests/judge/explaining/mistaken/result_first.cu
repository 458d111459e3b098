#include <cstdint>
#include <cuda_runtime.h>

__global__ void axpy(float* res, const float* v, float a, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) res[i] = a * v[i] + res[i];
}

extern "C" void solve(float* y, const float* x, float alpha, int64_t n) {
    if (n > 0) axpy<<<(n + 255) / 256, 256>>>(y, x, alpha, n);
}
