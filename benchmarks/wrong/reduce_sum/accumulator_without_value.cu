// Mistake: the accumulator has no first value.
// Says: (without a value|never set|uninitiali|no first value|never written)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void sum(const float* x, float* out, int64_t n) {
    float v; // HERE
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        v += x[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemset(out, 0, 4);
    sum<<<40, 256>>>(x, out, n);
}
