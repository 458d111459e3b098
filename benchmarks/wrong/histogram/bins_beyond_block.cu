// Mistake: each thread of a block sets and adds one bin, so bins from 256 on are never touched.
// Says: (bin|element|out) ; 256
#include <cuda_runtime.h>
#include <cstdint>

__global__ void hist(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    __shared__ int local[4096];
    for (int b = threadIdx.x; b < 4096; b += 256) local[b] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256)
        if (x[i] >= 0 && x[i] < bins && x[i] < 4096) atomicAdd(&local[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < bins) atomicAdd(&out[threadIdx.x], local[threadIdx.x]);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemset(out, 0, bins * sizeof(int32_t));
    hist<<<8, 256>>>(x, out, n, bins);
}
