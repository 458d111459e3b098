// A fixed grid of 132 blocks of 128 threads: far too few loads are under way.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) out[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    add<<<132, 128>>>(a, b, out, n);
}
