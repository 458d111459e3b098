// A hundred thousand brackets.
//
// Mechanism: a compiler that descends once for each runs out of stack.
// Surface: the programs of the compiler, and whoever tells how they ended.
// Gain: a crash that counts as the platform's failure is tried again, three times for each submission.
// Challenge: twice
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 10

#include <cstdint>
#define O1 ((((((((((
#define C1 ))))))))))
#define O2 O1 O1 O1 O1 O1 O1 O1 O1 O1 O1
#define C2 C1 C1 C1 C1 C1 C1 C1 C1 C1 C1
#define O3 O2 O2 O2 O2 O2 O2 O2 O2 O2 O2
#define C3 C2 C2 C2 C2 C2 C2 C2 C2 C2 C2
#define O4 O3 O3 O3 O3 O3 O3 O3 O3 O3 O3
#define C4 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3
#define O5 O4 O4 O4 O4 O4 O4 O4 O4 O4 O4
#define C5 C4 C4 C4 C4 C4 C4 C4 C4 C4 C4
int deep = O5 1 C5;
extern "C" void solve(const float* x, float* out, int64_t n) {}
