// Macros that expand to a billion tokens.
//
// Mechanism: each macro is eight times the one before.
// Surface: the memory of the compiler.
// Gain: a host that swaps; the kernel kills any process.
// Challenge: twice
// Like: template_bomb
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 5, COMPILE_MEMORY_BYTES 536870912

#include <cstdint>
#define A0 1,1,1,1,1,1,1,1
#define A1 A0,A0,A0,A0,A0,A0,A0,A0
#define A2 A1,A1,A1,A1,A1,A1,A1,A1
#define A3 A2,A2,A2,A2,A2,A2,A2,A2
#define A4 A3,A3,A3,A3,A3,A3,A3,A3
#define A5 A4,A4,A4,A4,A4,A4,A4,A4
#define A6 A5,A5,A5,A5,A5,A5,A5,A5
#define A7 A6,A6,A6,A6,A6,A6,A6,A6
#define A8 A7,A7,A7,A7,A7,A7,A7,A7
#define A9 A8,A8,A8,A8,A8,A8,A8,A8
int many[] = {A9};
extern "C" void solve(const float* x, float* out, int64_t n) {}
