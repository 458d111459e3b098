// A copy by the runtime, then a kernel that works in place.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void relu(float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n && out[i] < 0.0f) out[i] = 0.0f;
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    cudaMemcpyAsync(out, x, n * sizeof(float), cudaMemcpyDeviceToDevice, 0);
    relu<<<static_cast<unsigned>((n + 255) / 256), 256>>>(out, n);
}
