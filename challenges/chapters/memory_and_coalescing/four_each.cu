#include <cstdint>

__global__ void relu(const float* x, float* out, int64_t n) {
    int64_t first = 4 * (blockIdx.x * int64_t(blockDim.x) + threadIdx.x);
    for (int k = 0; k < 4; k++) {
        if (first + k < n) {
            float v = x[first + k];
            out[first + k] = v < 0 ? 0 : v;
        }
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    relu<<<(n + 1023) / 1024, 256>>>(x, out, n);
}
