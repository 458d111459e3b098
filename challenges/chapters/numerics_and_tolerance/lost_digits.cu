#include <cstdint>
#include <cuda_fp16.h>

__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    float scale = alpha;
    auto product = __float2half(scale * x[i]);
    float term = __half2float(product);
    float sum = term + y[i];
    y[i] = sum;
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
