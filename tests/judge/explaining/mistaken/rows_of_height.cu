#include <cstdint>
#include <cuda_runtime.h>

__global__ void product(const float* left, const float* right, float* result, int64_t height, int64_t width, int64_t depth) {
    int64_t i = blockIdx.y * (int64_t)blockDim.y + threadIdx.y;
    int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= height || j >= width) return;
    float sum = 0;
    for (int64_t d = 0; d < depth; ++d) sum += left[i * height + d] * right[d * width + j];
    result[i * width + j] = sum;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    product<<<grid, block>>>(a, b, out, m, n, k);
}
