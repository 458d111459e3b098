// Mistake on a GPU: launches at most 1024 blocks of 1024 threads, as a grid-stride loop would need, and has no loop.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    const int64_t blocks = (n + 1023) / 1024;
    add<<<static_cast<unsigned>(blocks < 1024 ? blocks : 1024), 1024>>>(a, b, out, n);
}
