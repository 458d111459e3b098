// Mistake: the index is computed in 32 bits, and n may exceed 2^31.
// Says: 32.bit|64 bits
#include <cuda_runtime.h>
#include <cstdint>

__global__ void gelu(const float* x, float* y, int64_t n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; // HERE
    if (i < n) y[i] = x[i] * normcdff(x[i]); // HERE
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) gelu<<<(n + 255) / 256, 256>>>(x, out, n);
}
