// Mistake: adds what __shfl_up_sync returns in every lane. Lanes that have nobody so far below them get their own value
// back, and double it.
#include <cstdint>
#include <cuda_runtime.h>

__device__ float scan_warp(float value) {
    for (int step = 1; step < 32; step *= 2) value += __shfl_up_sync(0xffffffffu, value, step);
    return value;
}

// One warp walks through everything: slow, and meant to be simple.
__global__ void scan(const float* x, float* out, int64_t n) {
    float carry = 0.0f;
    for (int64_t start = 0; start < n; start += 32) {
        const int64_t i = start + threadIdx.x;
        const float sum = scan_warp(i < n ? x[i] : 0.0f);
        if (i < n) out[i] = carry + sum;
        carry += __shfl_sync(0xffffffffu, sum, 31);
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) scan<<<1, 32>>>(x, out, n);
}
