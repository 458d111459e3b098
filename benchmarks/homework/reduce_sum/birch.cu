#include <cuda_runtime.h>
#include <cstdint>

// Easiest thing I could think of: everybody adds what they saw to the answer.
__global__ void add_all(const float *x, float *out, int64_t n)
{
    double t = 0;
    for (int64_t i = threadIdx.x + blockIdx.x * (int64_t)blockDim.x; i < n; i += gridDim.x * (int64_t)blockDim.x)
        t += x[i];
    if (t != 0) atomicAdd(out, (float)t);
}

extern "C" void solve(const float *x, float *out, int64_t n)
{
    cudaMemsetAsync(out, 0, sizeof(float));
    if (n > 0)
        add_all<<<4, 64>>>(x, out, n);
}
