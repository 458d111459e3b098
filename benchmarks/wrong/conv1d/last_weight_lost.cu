// Mistake: the loop over the weights ends one too early.
// Says: last (element|weight|value).*w|w.*last
#include <cuda_runtime.h>
#include <cstdint>

__global__ void conv(const float* x, const float* w, float* out, int64_t m, int64_t k) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float sum = 0.0f;
    for (int64_t j = 0; j < k - 1; ++j) sum += x[i + j] * w[j];
    out[i] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    int64_t m = n - k + 1;
    if (m <= 0) return;
    conv<<<(m + 127) / 128, 128>>>(x, w, out, m, k);
}
