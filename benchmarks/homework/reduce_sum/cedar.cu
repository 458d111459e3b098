#include <cstdint>
#include <cuda_runtime.h>

__inline__ __device__ float warpSum(float v) {
#pragma unroll
    for (int offset = 16; offset; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}

__global__ void reduceKernel(const float* __restrict__ x, float* __restrict__ out, int64_t n) {
    __shared__ float warps[32];
    const int lane = threadIdx.x & 31;
    const int wid = threadIdx.x >> 5;

    float v = 0.0f;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
        v += x[i];

    v = warpSum(v);
    if (lane == 0) warps[wid] = v;
    __syncthreads();

    if (wid == 0) {
        v = lane < (blockDim.x >> 5) ? warps[lane] : 0.0f;
        v = warpSum(v);
        if (lane == 0) atomicAdd(out, v);
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, 4, 0);
    if (n == 0) return;
    int64_t blocks = (n + 2047) / 2048;
    if (blocks > 1056) blocks = 1056;
    reduceKernel<<<static_cast<unsigned>(blocks), 512>>>(x, out, n);
}
