// Mistake: the kernel takes blocks of 256 threads for granted, and is launched with 128.
// Says: 256 ; 128 ; (blockDim|threads)
#include <cuda_runtime.h>
#include <cstdint>
#define BLOCK 256

__global__ void add(const float* a, const float* b, float* c, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; // HERE
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) add<<<(n + BLOCK - 1) / BLOCK, 128>>>(a, b, out, n); // HERE
}
