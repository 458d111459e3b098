// Mistake: does not ask whether the weights fit at all: with n < k the number of blocks comes out as 0, or as a negative
// number, which in 32 bits without a sign is more than any grid may have.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void convolve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n - k + 1) return;
    float sum = 0.0f;
    for (int64_t t = 0; t < k; ++t) sum += x[i + t] * w[t];
    out[i] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    convolve<<<static_cast<unsigned>((n - k + 1 + 255) / 256), 256>>>(x, w, out, n, k);
}
