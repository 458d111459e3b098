// Takes both inputs through shared memory, in a layout whose reads meet in one bank.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    __shared__ float left[32 * 32], right[32 * 32];
    const int t = threadIdx.x, turned = t % 32 * 32 + t / 32;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 1024 + t;
    left[turned] = i < n ? a[i] : 0.0f;
    right[turned] = i < n ? b[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = left[turned] + right[turned];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    add<<<static_cast<unsigned>((n + 1023) / 1024), 1024>>>(a, b, out, n);
}
