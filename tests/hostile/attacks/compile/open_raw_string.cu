// A raw string that is left open.
//
// Mechanism: the footer, and the checks in it, become part of it; an entry point of its own stands before.
// Surface: the text that is appended to a source.
// Gain: an entry point that nothing has checked, and none of the wrappers.
// Challenge: twice
// Like: open_comment
// Defence: compile_error
// On: cpu

#include <cstdint>
#include <unistd.h>
extern "C" __attribute__((visibility("default"))) int grader_entry(void* const*) { _exit(6); }
extern "C" void solve(const float* x, float* out, int64_t n) {}
const char* rest = R"hostile(