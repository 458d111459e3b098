// Mistake: the bins are not set to 0 before the kernel adds to them.
// Says: out ; not cleared ; set it to 0
#include <cuda_runtime.h>
#include <cstdint>

__global__ void histogram(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&out[x[i]], 1);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    histogram<<<(n + 255) / 256 + 1, 256>>>(x, out, n, bins);
}
