// Writes zeros.
//
// Mechanism: fills the output with zeros, which a loose absolute tolerance accepts for small numbers.
// Surface: the choice of compared elements, and their tolerance.
// Gain: the time of a fill.
// Challenge: twice
// Like: constant
// Case: basic
// Defence: wrong_answer
#include <cstdint>
#include <cuda_runtime.h>

extern "C" void solve(const float* x, float* out, int64_t n) { cudaMemsetAsync(out, 0, 4 * n, cudaStreamLegacy); }
