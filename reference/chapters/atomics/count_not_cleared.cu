#include <cstdint>
#include <cuda_runtime.h>

__global__ void count(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int32_t bin = x[i];
    if (bin < 0 || bin >= bins) return;
    atomicAdd(&out[bin], 1);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (bins == 0) return;
    if (n > 0) count<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n, bins);
}
