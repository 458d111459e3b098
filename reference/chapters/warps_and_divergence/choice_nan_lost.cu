#include <cstdint>
#include <cuda_runtime.h>

__global__ void relu(const float* x, float* out, int64_t n) {
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        out[i] = v > 0 ? v : 0;
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    const int threads = 256;
    const int64_t blocks = (n + threads - 1) / threads;
    relu<<<static_cast<unsigned>(blocks), threads>>>(x, out, n);
}
