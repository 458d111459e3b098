// Copies a, then adds b to it: a third more traffic, and a second launch.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void copy(const float* a, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i];
}

__global__ void add_to(const float* b, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] += b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    copy<<<blocks, 256>>>(a, out, n);
    add_to<<<blocks, 256>>>(b, out, n);
}
