// Mistake: the grid-stride loop steps by one block, so later elements are counted by several blocks.
// Says: (stride|step|gridDim|several|more than once|twice|too often|times|again)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void histogram(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        if (x[i] >= 0 && x[i] < bins) atomicAdd(&out[x[i]], 1);
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t));
    int64_t blocks = (n + 255) / 256;
    if (n && bins) histogram<<<blocks < 64 ? blocks : 64, 256>>>(x, out, n, bins);
}
