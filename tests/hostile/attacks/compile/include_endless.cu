// Includes an endless file.
//
// Mechanism: /dev/zero has no line end, for which the preprocessor reads.
// Surface: the memory and the time of the compiler.
// Gain: a host that swaps, and a worker that compiles for ever.
// Challenge: twice
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 3, COMPILE_MEMORY_BYTES 1073741824

#include <cstdint>
#include "/dev/zero"
extern "C" void solve(const float* x, float* out, int64_t n) {}
