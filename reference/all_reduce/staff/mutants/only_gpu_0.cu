// Mistake: launches on GPU 0 alone: GPU 1 never gets its sums.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* own, const float* other, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = own[i] + other[i];
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    if (n == 0) return;
    add<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x[0], x[1], out[0], n);
}
