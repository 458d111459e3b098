// A computation that the compiler must do.
//
// Mechanism: constexpr functions that recur twice, in a place where a constant is needed; each stays below the
//   compiler's own bound.
// Surface: the time of the compiler.
// Gain: a worker that computes for a stranger, and judges nobody meanwhile.
// Challenge: twice
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 3

#include <cstdint>
constexpr unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
template <unsigned N> struct Sum { static constexpr unsigned value = fib(20 + N % 4) + Sum<N - 1>::value; };
template <> struct Sum<0> { static constexpr unsigned value = 0; };
static_assert(Sum<150>::value != 1, "");
extern "C" void solve(const float* x, float* out, int64_t n) {}
