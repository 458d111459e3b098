// Mistake: the steps of the tree have no barrier between them.
// Says: __syncthreads\(\)|barrier
#include <cuda_runtime.h>
#include <cstdint>

__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float buf[512];
    int64_t i = (int64_t)blockIdx.x * 512 + threadIdx.x;
    buf[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (unsigned s = 256; s > 0; s >>= 1)
        if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s]; // HERE
    if (threadIdx.x == 0) atomicAdd(out, buf[0]);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemset(out, 0, sizeof(float));
    if (n) sum<<<(n + 511) / 512, 512>>>(x, out, n);
}
