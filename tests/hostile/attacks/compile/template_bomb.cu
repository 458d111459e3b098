// Templates that need each other without end.
//
// Mechanism: each of 2^40 instances needs two more; the depth is small.
// Surface: the time and the memory of the compiler, in each of its programs.
// Gain: a worker that compiles for ever.
// Challenge: twice
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 3

#include <cstdint>
template <int N, int M> struct Tree { static const int value = Tree<N - 1, 2 * M>::value + Tree<N - 1, 2 * M + 1>::value; };
template <int M> struct Tree<0, M> { static const int value = M; };
int boom = Tree<40, 1>::value;
extern "C" void solve(const float* x, float* out, int64_t n) {}
