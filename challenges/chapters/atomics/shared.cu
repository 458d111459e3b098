#include <cstdint>

__global__ void count(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    extern __shared__ int32_t own[];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
    __syncthreads();

    int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        if (x[i] >= 0 && x[i] < bins) atomicAdd(&own[x[i]], 1);
    }

    for (int b = threadIdx.x; b < bins; b += blockDim.x) {
        if (own[b] > 0) atomicAdd(&out[b], own[b]);
    }
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t));
    if (n > 0 && bins > 0) count<<<4, 256, bins * sizeof(int32_t)>>>(x, out, n, bins);
}
