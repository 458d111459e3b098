// An index of 32 bits.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 1024;

// The sum of each tile.
__global__ void tiles(const float* x, double* sums, int64_t n) {
    const int i = blockIdx.x * kTile + threadIdx.x;
    __shared__ double shared[kTile];
    shared[threadIdx.x] = i < n ? x[i] : 0.0f;
    for (int step = kTile / 2; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

// The sums of all tiles ahead of each.
__global__ void ahead(double* sums, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double own = sums[i];
        sums[i] = sum;
        sum += own;
    }
}

__global__ void all(const float* x, const double* sums, float* out, int64_t n) {
    const int i = blockIdx.x * kTile + threadIdx.x;
    __shared__ double shared[kTile];
    shared[threadIdx.x] = i < n ? x[i] : 0.0f;
    for (int step = 1; step < kTile; step *= 2) {
        __syncthreads();
        const double left = threadIdx.x >= step ? shared[threadIdx.x - step] : 0.0;
        __syncthreads();
        shared[threadIdx.x] += left;
    }
    if (i < n) out[i] = sums[blockIdx.x] + shared[threadIdx.x];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    const int64_t count = (n + kTile - 1) / kTile;
    if (n == 0) return;
    double* sums;
    cudaMalloc(&sums, count * sizeof *sums);
    tiles<<<count, kTile>>>(x, sums, n);
    ahead<<<1, 1>>>(sums, count);
    all<<<count, kTile>>>(x, sums, out, n);
    cudaFree(sums);
}
