// Includes itself, twice.
//
// Mechanism: each inclusion includes two more, without a guard; the depth is bounded, the number is not.
// Surface: the time and the memory of the preprocessor.
// Gain: a worker that compiles for ever.
// Challenge: twice
// Like: include_endless
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 3

#include <cstdint>
#include __FILE__
#include __FILE__
extern "C" void solve(const float* x, float* out, int64_t n) {}
