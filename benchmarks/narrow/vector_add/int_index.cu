// An index of 32 bits.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void each(const float* a, const float* b, float* out, int64_t n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) each<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
