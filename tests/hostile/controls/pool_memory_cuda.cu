// Allocates and frees device memory in every call.
//
// Looks: as if it looked for old answers: cudaMallocAsync on the default stream.
// Challenge: twice
// Timed: yes
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

static void honest(const float* x, float* out, int64_t n, cudaStream_t stream = nullptr) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    float* scratch = nullptr;
    if (cudaMallocAsync(&scratch, 4 * n + 4, cudaStreamLegacy) != cudaSuccess) return;
    honest(x, scratch, n);
    cudaMemcpyAsync(out, scratch, 4 * n, cudaMemcpyDeviceToDevice, cudaStreamLegacy);
    cudaFreeAsync(scratch, cudaStreamLegacy);
}
