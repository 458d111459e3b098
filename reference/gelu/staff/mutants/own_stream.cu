// Mistake: launches on a stream of its own that neither waits for the default stream nor is waited for: it may read the
// input before it is there, and the caller may read the output before it is written.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float* x, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    static cudaStream_t stream = nullptr;
    if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (n == 0) return;
    gelu_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
}
