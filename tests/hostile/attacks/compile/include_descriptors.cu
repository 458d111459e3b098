// Includes open descriptors.
//
// Mechanism: a file name may name a descriptor: the standard input, the connection to the judge, the pipe of the
//   library, a terminal.
// Surface: descriptors that the compiler inherits.
// Gain: it waits for ever for input, or swallows the judge's messages to the box.
// Challenge: twice
// Like: include_passwd
// Defence: compile_error
// On: cpu

#include <cstdint>
#include "/dev/stdin"
#include "/proc/self/fd/0"
#if __has_include("/proc/self/fd/3")
#include "/proc/self/fd/3"
#endif
#include "/dev/tty"
extern "C" void solve(const float* x, float* out, int64_t n) {}
