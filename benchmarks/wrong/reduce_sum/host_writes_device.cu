// Mistake: host code writes through a device pointer.
// Says: host ; (device pointer|cudaMem)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void sum(const float* x, float* out, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    out[0] = 0.0f; // HERE
    if (n > 0) sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
