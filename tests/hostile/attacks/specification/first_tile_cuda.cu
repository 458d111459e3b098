// Computes the first block only.
//
// Mechanism: launches one block for everything.
// Surface: the choice of compared elements, and their tolerance.
// Gain: the time of one block, however many there are.
// Challenge: twice
// Like: tail_dropped
// Case: basic
// Defence: wrong_answer
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) { twice<<<1, 32>>>(x, out, n); }
