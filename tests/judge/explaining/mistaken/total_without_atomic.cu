#include <cstdint>
#include <cuda_runtime.h>

__global__ void product(const float* p, const float* q, float* total, int64_t count) {
    int64_t where = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (where < count) *total += p[where] * q[where];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemset(out, 0, sizeof(float));
    if (n > 0) product<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
