// Mistake: the shuffles begin with 8, not 16, so half of each warp is left out.
// Says: (modulo 32|half|below 16) ; (left out|leaves|step)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void dot(const float* a, const float* b, float* out, int64_t n) {
    double v = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        v += (double)a[i] * b[i];
    for (int d = 8; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, (float)v);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float));
    dot<<<16, 256>>>(a, b, out, n);
}
