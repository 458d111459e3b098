// Writes zeros.
//
// Mechanism: fills the output with zeros, which a loose absolute tolerance takes for small numbers.
// Surface: what is compared, and how closely.
// Gain: the time of a fill.
// Challenge: twice
// Like: constant
// Case: basic
// Defence: wrong_answer
#include <cstdint>
#include <cuda_runtime.h>

extern "C" void solve(const float* x, float* out, int64_t n) { cudaMemsetAsync(out, 0, 4 * n, cudaStreamLegacy); }
