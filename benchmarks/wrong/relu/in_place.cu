// Mistake: the kernel writes its result into the input.
// Says: \bx\b ; (read-only|input)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void relu(float* x, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0) x[i] = 0;
}

extern "C" void solve(float* x, float* out, int64_t n) {
    if (n == 0) return;
    relu<<<(n + 255) / 256, 256>>>(x, n);
    cudaMemcpyAsync(out, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
