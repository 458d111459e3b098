// Mistake: the scan of 256 elements takes seven steps; the one over 128 is missing.
// Says: (step|128|half) ; (128|last|lack|missing|only)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const float* x, float* out, int64_t n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float carry = 0;
    for (int64_t b = 0; b < n; b += 256) {
        s[t] = b + t < n ? x[b + t] : 0;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) {
            float left = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += left;
            __syncthreads();
        }
        if (b + t < n) out[b + t] = carry + s[t];
        carry += s[255];
        __syncthreads();
    }
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) f<<<1, 256>>>(x, out, n);
}
