#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at <= n) out[at] = a[at] + b[at];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
