// Mistake: the grid has n / 256 blocks, so the last, partial block never runs.
// Says: (rounds down|last, partial block|last partial block)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void axpy(float a, const float* x, float* y, int64_t n) {
    int64_t i = (int64_t)blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    const int threads = 256;
    int64_t blocks = n / threads; // HERE
    if (blocks > 0)
        axpy<<<blocks, threads>>>(alpha, x, y, n); // HERE
}
