// Mistake: bins are counted from the last one.
// Says: (reverse|end|other order|backward)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&out[bins - 1 - x[i]], 1);
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t));
    if (n && bins) f<<<(n + 255) / 256, 256>>>(x, out, n, bins);
}
