// Mistake: the running total of each thread is an int, so fractions are lost.
// Says: (integer|int\b|fraction)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void sum(const float* x, float* out, int64_t n) {
    int total = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        total += x[i]; // HERE
    atomicAdd(out, (float)total);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemset(out, 0, sizeof(float));
    sum<<<8, 128>>>(x, out, n);
}
