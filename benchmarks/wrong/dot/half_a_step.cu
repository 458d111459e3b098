// Mistake: the loop moves on by half of the grid's threads, so elements are added again.
// Says: (twice|again|more than once|several times|2 times|step|stride)
#include <cstdint>
__global__ void dot(const float* a, const float* b, float* out, int64_t n) {
    __shared__ float part[256];
    float s = 0;
    for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 128LL) s += a[i] * b[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float));
    if (n) dot<<<2, 256>>>(a, b, out, n);
}
