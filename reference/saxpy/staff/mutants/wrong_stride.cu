// Mistake: a grid-stride loop that steps by the size of a block instead of that of the grid. Blocks go over each
// other's elements, and in place each of them is updated more than once.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < n; i += blockDim.x) y[i] = alpha * x[i] + y[i];
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n == 0) return;
    saxpy<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, y, alpha, n);
}
