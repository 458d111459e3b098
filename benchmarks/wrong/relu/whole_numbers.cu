// Mistake: max is taken of an int, so the fraction is lost.
// Says: (int|whole|fraction|cut|trunc)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void relu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = max((int)x[i], 0);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) relu<<<(n + 255) / 256, 256>>>(x, out, n);
}
