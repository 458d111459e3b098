// Mistake: within a step, threads read what others of the block overwrite.
// Says: __syncthreads\(\)|barrier
#include <cuda_runtime.h>
#include <cstdint>

__global__ void scan(const float* x, float* out, int64_t n) {
    __shared__ double s[1024];
    int t = threadIdx.x;
    double carry = 0;
    for (int64_t base = 0; base < n; base += 1024) {
        s[t] = base + t < n ? x[base + t] : 0.0;
        __syncthreads();
        for (int d = 1; d < 1024; d <<= 1) {
            if (t >= d) s[t] += s[t - d]; // HERE
            __syncthreads();
        }
        if (base + t < n) out[base + t] = carry + s[t];
        carry += s[1023];
        __syncthreads();
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) scan<<<1, 1024>>>(x, out, n);
}
