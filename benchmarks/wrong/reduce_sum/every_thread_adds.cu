// Mistake: all 256 threads of a block add the block's sum, not only one.
// Says: 256 times ; (every thread|each thread|all threads|all 256|one thread)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int64_t i = (int64_t)blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    atomicAdd(out, s[0]);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemset(out, 0, sizeof(float));
    if (n > 0) sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
