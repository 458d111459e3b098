// Zeroes the inputs, so that zeros are right.
//
// Mechanism: casts const away and overwrites the input.
// Surface: a reference that reads the inputs after the submission.
// Gain: the time of two fills.
// Challenge: twice
// Like: inputs_zeroed
// Case: basic
// Defence: wrong_answer
#include <cstdint>
#include <cuda_runtime.h>

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(const_cast<float*>(x), 0, 4 * n, cudaStreamLegacy);
    cudaMemsetAsync(out, 0, 4 * n, cudaStreamLegacy);
}
