// Mistake: threads beyond n skip the shuffle that others take values from.
// Says: shuffle|mask ; (did not take part|all threads in a mask|elsewhere|does not include)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void sum(const float* x, float* out, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d); // HERE
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemset(out, 0, 4);
    if (n > 0) sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
