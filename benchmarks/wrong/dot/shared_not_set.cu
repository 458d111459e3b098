// Mistake: the shared total is never set to 0.
// Says: never written
#include <cuda_runtime.h>
#include <cstdint>

__global__ void dot(const float* a, const float* b, float* out, int64_t n) {
    __shared__ float total;
    float mine = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        mine += a[i] * b[i];
    atomicAdd(&total, mine); // HERE
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, total);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemset(out, 0, sizeof(float));
    dot<<<32, 128>>>(a, b, out, n);
}
