// Mistake: float4 covers n / 4 groups; the last n % 4 elements are never added.
// Says: (last|n % 4|rest|remaining|tail|from element) ; (left out|never|not|no thread reads|rounded down|lost)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void total(const float4* x, float* out, int64_t groups) {
    float sum = 0;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < groups; i += (int64_t)gridDim.x * blockDim.x) {
        float4 v = x[i];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float));
    if (n >= 4) total<<<64, 128>>>((const float4*)x, out, n / 4);
}
