// Mistake: nothing keeps the last block's threads from reading and writing past the end.
// Says: past the end ; (nothing compares|no condition|under if|bounds)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void add_kernel(const float* a, const float* b, float* c) {
    int64_t start = (int64_t)blockIdx.x * 256;
    c[start + threadIdx.x] = a[start + threadIdx.x] + b[start + threadIdx.x]; // HERE
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    int64_t blocks = (n + 255) / 256;
    if (blocks > 0) add_kernel<<<blocks, 256>>>(a, b, out);
}
