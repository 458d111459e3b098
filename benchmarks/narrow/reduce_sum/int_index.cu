// An index of 32 bits.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void each(const float* x, float* out, int64_t n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, 4);
    if (n > 0) each<<<(n + 255) / 256, 256>>>(x, out, n);
}
