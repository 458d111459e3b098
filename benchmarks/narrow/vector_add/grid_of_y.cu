// More blocks along y than a grid may have.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    const int64_t i = blockIdx.y * int64_t(1024) + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) add<<<dim3(1, (n + 1023) / 1024), 1024>>>(a, b, out, n);
}
