// Mistake: a __syncthreads() that only some threads reach.
// Says: __syncthreads\(\) ; (all threads|every thread|different)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float v = 0.0f;
    for (int64_t i = blockIdx.x * 256 + t; i < n; i += (int64_t)gridDim.x * 256) v += x[i];
    s[t] = v;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) {
            s[t] += s[t + d];
            __syncthreads(); // HERE
        }
    }
    __syncthreads(); // HERE
    if (t == 0) atomicAdd(out, s[0]);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float));
    sum<<<64, 256>>>(x, out, n);
}
