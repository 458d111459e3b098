#include <cstdint>

__global__ void add(const float* x, float* out, int64_t n) {
    int64_t step = int64_t(gridDim.x) * blockDim.x;
    float sum = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) sum += x[i];

    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(0xffffffff, sum, far);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float));
    if (n > 0) add<<<4, 256>>>(x, out, n);
}
