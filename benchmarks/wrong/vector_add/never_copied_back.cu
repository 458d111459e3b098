// Mistake: the kernel writes to an array of its own, which is never copied to out.
// Says: \bout\b ; (never uses|never passed|no kernel|copied)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void add(const float* a, const float* b, float* c, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    float* c;
    cudaMalloc(&c, n * sizeof(float));
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    cudaDeviceSynchronize();
    cudaFree(c);
}
