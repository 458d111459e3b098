// Mistake: every block assigns its sum to out, so only one block's remains.
// Says: atomicAdd|several blocks|another block|two blocks|same index
#include <cuda_runtime.h>
#include <cstdint>

__global__ void dot(const float* a, const float* b, float* out, int64_t n) {
    __shared__ float s[256];
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = s[0]; // HERE
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemset(out, 0, 4);
    if (n) dot<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
