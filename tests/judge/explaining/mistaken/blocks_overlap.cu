#include <cstdint>
#include <cuda_runtime.h>

__global__ void clip(const float* x, float* out, int64_t n) {
    int64_t i = (int64_t)blockIdx.x + threadIdx.x;
    if (i < n) out[i] = x[i] > 0 || x[i] != x[i] ? x[i] : 0.0f;
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) clip<<<(n + 255) / 256, 256>>>(x, out, n);
}
