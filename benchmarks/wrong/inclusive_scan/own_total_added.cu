// Mistake: each block adds the totals up to and including its own.
// Says: (total|sum|carry|offset) ; (own|twice|itself|including|inclusive|too many|too much|again)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void scan(const float* x, float* out, int64_t n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int64_t i = blockIdx.x * 256LL + t;
    float before = 0;
    for (int64_t j = t; j < (blockIdx.x + 1) * 256LL && j < n; j += 256) before += x[j];
    s[t] = before;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    before = blockIdx.x ? s[0] : 0;
    __syncthreads();
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    if (i < n) out[i] = before + s[t];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) scan<<<(n + 255) / 256, 256>>>(x, out, n);
}
