// Mistake: each window begins one element too late.
// Says: past the end|one too late|1 place|first element
#include <cuda_runtime.h>
#include <cstdint>

__global__ void conv(const float* x, const float* w, float* out, int64_t m, int64_t k) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float acc = 0.0f;
    for (int64_t j = 1; j <= k; j++)
        acc += x[i + j] * w[j - 1]; // HERE
    out[i] = acc;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    int64_t m = n - k + 1;
    if (m > 0) conv<<<(m + 255) / 256, 256>>>(x, w, out, m, k);
}
