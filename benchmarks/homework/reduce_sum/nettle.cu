#include <cuda_runtime.h>
#include <cstdint>
#include <climits>

static __device__ float gPartials[256];

__device__ __forceinline__ float treeReduce(float* buf) {
    for (unsigned width = 1; width < blockDim.x; width *= 2) {
        unsigned left = 2 * width * threadIdx.x;
        if (left + width < blockDim.x) buf[left] += buf[left + width];
        __syncthreads();
    }
    return buf[0];
}

__global__ void stage1(const float* __restrict__ x, int64_t n) {
    extern __shared__ float buf[];
    float own = 0;
    for (int64_t idx = threadIdx.x + int64_t(blockDim.x) * blockIdx.x; idx < n; idx += int64_t(blockDim.x) * gridDim.x)
        own += __ldg(x + idx);
    buf[threadIdx.x] = own;
    __syncthreads();
    float result = treeReduce(buf);
    if (!threadIdx.x) gPartials[blockIdx.x] = result;
}

__global__ void stage2(float* out) {
    extern __shared__ float buf[];
    buf[threadIdx.x] = gPartials[threadIdx.x];
    __syncthreads();
    float result = treeReduce(buf);
    if (!threadIdx.x) *out = result;
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    stage1<<<256, 256, 1024>>>(x, n);
    stage2<<<1, 256, 1024>>>(out);
}
