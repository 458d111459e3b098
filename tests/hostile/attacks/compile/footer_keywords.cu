// Redefines the language.
//
// Mechanism: macros may have the names of keywords: static_assert does nothing, constexpr and namespace mean
//   something else.
// Surface: the text that is appended to a source.
// Gain: a wrong signature passes; arguments are read as other types.
// Challenge: twice
// Like: footer_macros
// Defence: compile_error
// On: cpu

#include <cstdint>
#include <type_traits>
#include <utility>
extern "C" void solve(float* x, double* out) {}
#define static_assert(...)
#define constexpr const
#define namespace struct
#define reinterpret_cast static_cast
#define decltype(...) void
#define true false
