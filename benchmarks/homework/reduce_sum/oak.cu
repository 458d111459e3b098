#include <cuda_runtime.h>
#include <cstdint>

// Generic fold so that next week's max comes for free.
template <class T, class Op>
__device__ T warpFold(T v, Op op) {
    for (int lane_mask = 16; lane_mask > 0; lane_mask >>= 1) v = op(v, __shfl_xor_sync(0xFFFFFFFF, v, lane_mask));
    return v;
}

struct Plus {
    __device__ float operator()(float l, float r) const { return l + r; }
};

template <class Op, int WARPS>
__global__ void foldKernel(const float* src, int64_t n, float* dst, float neutral, Op op) {
    __shared__ float perWarp[WARPS];
    float v = neutral;
    int64_t pos = int64_t(blockIdx.x) * (WARPS * 32) + threadIdx.x;
    for (; pos < n; pos += int64_t(gridDim.x) * (WARPS * 32)) v = op(v, src[pos]);
    v = warpFold(v, op);
    if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < WARPS ? perWarp[threadIdx.x] : neutral;
        v = warpFold(v, op);
        if (threadIdx.x == 0) dst[blockIdx.x] = v;
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    const int grid = n < 4096 ? 1 : 240;
    if (grid == 1) {
        foldKernel<Plus, 16><<<1, 512>>>(x, n, out, 0.0f, Plus{});
        return;
    }
    float* mid = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&mid), grid * 4, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    foldKernel<Plus, 16><<<grid, 512>>>(x, n, mid, 0.0f, Plus{});
    foldKernel<Plus, 8><<<1, 256>>>(mid, grid, out, 0.0f, Plus{});
    cudaFree(mid);
}
