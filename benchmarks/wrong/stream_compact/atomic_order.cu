// Mistake: an atomic counter hands out places, so the kept elements come in any order.
// Says: order
#include <cuda_runtime.h>
#include <cstdint>

__global__ void compact(const float* x, float* out, unsigned long long* count, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        unsigned long long p = atomicAdd(count, 1ULL);
        out[p] = x[i];
    }
}

extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    cudaMemset(count, 0, sizeof(int64_t));
    if (n > 0) compact<<<(n + 255) / 256, 256>>>(x, out, (unsigned long long*)count, n);
}
