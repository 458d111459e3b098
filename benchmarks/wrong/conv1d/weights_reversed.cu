// Mistake: a mathematical convolution: the weights are taken from the end.
// Says: (revers|turned round|from the end|flipped) ; \bw\b
#include <cuda_runtime.h>
#include <cstdint>

__global__ void conv(const float* x, const float* w, float* out, int64_t m, int64_t k) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float sum = 0.0f;
        for (int64_t j = 0; j < k; ++j) sum = fmaf(x[i + j], w[k - 1 - j], sum);
        out[i] = sum;
    }
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    int64_t m = n - k + 1;
    if (m > 0) conv<<<(m + 255) / 256, 256>>>(x, w, out, m, k);
}
