// Mistake: the weights are kept in a shared array of 32.
// Says: shared ; (past the end|32|128 bytes)
#include <cstdint>
__global__ void conv(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    __shared__ float weights[32];
    if (threadIdx.x < k) weights[threadIdx.x] = w[threadIdx.x]; // HERE
    __syncthreads();
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n - k + 1) return;
    float s = 0;
    for (int64_t t = 0; t < k; t++) s += x[i + t] * weights[t]; // HERE
    out[i] = s;
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    if (n - k + 1 > 0) conv<<<(n - k + 256) / 256, 256>>>(x, w, out, n, k);
}
