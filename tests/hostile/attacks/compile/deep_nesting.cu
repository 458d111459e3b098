// Tens of thousands of signs.
//
// Mechanism: a compiler that descends once for each sign of an expression runs out of stack.
// Surface: the compiler's programs, and the code that reports how they ended.
// Gain: a crash that counts as the platform's failure is tried again, three times for each submission.
// Challenge: twice
// Like: template_bomb
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 5

#include <cstdint>
#define N1 - - - - - - - - - -
#define N2 N1 N1 N1 N1 N1 N1 N1 N1 N1 N1
#define N3 N2 N2 N2 N2 N2 N2 N2 N2 N2 N2
#define N4 N3 N3 N3 N3 N3 N3 N3 N3 N3 N3
int deep = N4 N4 N4 1;
extern "C" void solve(const float* x, float* out, int64_t n) {}
