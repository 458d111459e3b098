// Mistake: each block of 512 is scanned alone; the sums of the blocks before it are missing.
// Says: 512 ; (block|group) ; (before|starts again|begin|from 0)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void scan(const float* x, float* out, int64_t n) {
    __shared__ float s[512];
    int t = threadIdx.x;
    int64_t i = (int64_t)blockIdx.x * 512 + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int d = 1; d < 512; d *= 2) {
        float v = t >= d ? s[t - d] : 0.0f;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (i < n) out[i] = s[t];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) scan<<<(n + 511) / 512, 512>>>(x, out, n);
}
