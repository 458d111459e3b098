// A warp's neighbours lie 32 bytes apart: each access touches 32 sectors, eight times over.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * 2048 + threadIdx.x * 8;
    for (int k = 0; k < 8; ++k)
        if (first + k < n) y[first + k] = alpha * x[first + k] + y[first + k];
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n == 0) return;
    saxpy<<<static_cast<unsigned>((n + 2047) / 2048), 256>>>(x, y, alpha, n);
}
