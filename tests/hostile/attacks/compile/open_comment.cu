// An unclosed comment.
//
// Mechanism: swallows the footer and its checks; an unchecked entry point precedes it.
// Surface: the text that is appended to a source.
// Gain: an unchecked entry point without wrappers.
// Challenge: twice
// Defence: compile_error
// On: cpu

#include <cstdint>
#include <unistd.h>
extern "C" __attribute__((visibility("default"))) int grader_entry(void* const*) { _exit(6); }
extern "C" void solve(const float* x, float* out, int64_t n) {}
/* 