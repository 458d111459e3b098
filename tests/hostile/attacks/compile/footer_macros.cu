// Redefines names that the footer uses.
//
// Mechanism: macros for the footer's own names would make it check another function, ask for no error, or keep its
//   wrappers from being made. The footer first undefines each of its words, so the source compiles and is judged.
// Surface: the text that is appended to a source.
// Gain: a failed launch goes unreported; a wrong signature passes.
// Challenge: twice
// Defence: compile_error, wrong_answer, runtime_error
// On: cpu, gpu

#include <cstdint>
extern "C" void solve(const float* x, float* out, int64_t n) {}
#define cudaGetLastError() cudaSuccess
#define cudaGetErrorString(code) "all is well"
#define grader_fallback grader_calls
#define grader_entry grader_entry_of_mine
#define declval other
#define is_same is_void
