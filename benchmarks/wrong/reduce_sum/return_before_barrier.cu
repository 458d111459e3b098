// Mistake: threads beyond n return before the barrier, and never fill their place in shared memory.
// Says: (__syncthreads|barrier|never written|return)
#include <cstdint>
__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float part[256];
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    if (i >= n) return; // HERE
    part[threadIdx.x] = x[i];
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float));
    if (n) sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
