// Reads the clock within the kernel.
//
// Looks: as if it waited for something: clock64 before and after, and a branch that is never taken.
// Challenge: twice
// Timed: yes
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const long long began = clock64();
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
    if (clock64() < began) __trap();
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
