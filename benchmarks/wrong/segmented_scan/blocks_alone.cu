// Mistake: each block of 256 begins a segment, flag or not.
// Says: 256 ; (block|group|each)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void scan(const float* x, const uint8_t* flags, float* out, int64_t n) {
    __shared__ float s[256];
    __shared__ bool f[256];
    const int t = threadIdx.x;
    const int64_t i = blockIdx.x * 256LL + t;
    s[t] = i < n ? x[i] : 0;
    f[t] = i < n && flags[i];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        const float left = t >= d && !f[t] ? s[t - d] : 0;
        const bool head = f[t] || (t >= d && f[t - d]);
        __syncthreads();
        s[t] += left;
        f[t] = head;
        __syncthreads();
    }
    if (i < n) out[i] = s[t];
}

extern "C" void solve(const float* x, const uint8_t* flags, float* out, int64_t n) {
    if (n) scan<<<(n + 255) / 256, 256>>>(x, flags, out, n);
}
