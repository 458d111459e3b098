// Mistake: the sum of squares is not divided by the number of columns.
// Says: (mean|divid|sum of) ; cols
#include <cuda_runtime.h>
#include <cstdint>

__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    __shared__ float part[256];
    int64_t base = (int64_t)blockIdx.x * cols;
    float ss = 0;
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) ss += x[base + c] * x[base + c];
    part[threadIdx.x] = ss;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    float r = 1.0f / sqrtf(part[0] + eps);
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) out[base + c] = x[base + c] * r * gamma[c];
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows > 0 && cols > 0) rmsnorm<<<rows, 256>>>(x, gamma, out, eps, cols);
}
