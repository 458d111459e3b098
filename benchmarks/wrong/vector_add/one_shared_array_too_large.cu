// Mistake: 128 KiB of static shared memory.
// Says: shared ; 49,152|48 KiB
#include <cuda_runtime.h>
#include <cstdint>

__global__ void add(const float* a, const float* b, float* c, int64_t n) {
    __shared__ float tile[32768]; // HERE
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x] = a[i];
        c[i] = tile[threadIdx.x] + b[i];
    }
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
