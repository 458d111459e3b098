// Launches more threads than anyone can wait for.
//
// Mechanism: the largest grid that CUDA allows, of the largest blocks, of a kernel that does nothing but its work.
// Surface: the emulated GPU runs threads on the host's processor, and its process is the judge's own.
// Gain: a box that is busy for days.
// Challenge: twice
// On: emulated
// Defence: time_limit
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    twice<<<0x7fffffff, 1024>>>(x, out, n);
}
