// An index that wraps into the lower half.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void each(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = (blockIdx.x * blockDim.x + threadIdx.x) & 0x7fffffff;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) each<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
