#include <cuda_runtime.h>
#include <cstdint>

// Shared-memory atomics: the hardware is good at them, why write a tree?
__global__ void shared_atomics(const float* x, float* out, int64_t n)
{
    __shared__ float bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0.0f;
    __syncthreads();

    int64_t i = blockIdx.x;
    i = i * blockDim.x + threadIdx.x;
    float v = 0.0f;
    do {
        if (i < n) v += x[i];
        i += (int64_t)blockDim.x * gridDim.x;
    } while (i < n);
    atomicAdd(&bins[threadIdx.x & 31], v);
    __syncthreads();

    if (threadIdx.x < 32) {
        atomicAdd(out, bins[threadIdx.x]);
    }
}

__global__ void init(float* out) { if (threadIdx.x == 0) out[0] = 0.0f; }

extern "C" void solve(const float* x, float* out, int64_t n)
{
    init<<<1, 32>>>(out);
    int blocks = (int)((n + 4095) / 4096);
    if (blocks > 0) shared_atomics<<<blocks < 400 ? blocks : 400, 256>>>(x, out, n);
}
