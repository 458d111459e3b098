// Options and commands in the source.
//
// Mechanism: names that a shell or a response file would act on, in #line, in #ident, in section names, in
//   comments that tools read; the compiler repeats them in its commands.
// Surface: the commands that the compiler builds from the source.
// Gain: files written anywhere, programs run while compiling.
// Challenge: twice
// Defence: wrong_answer
// On: cpu

// -o /tmp/hostile-option  --compiler-options -fplugin=/tmp/hostile.so  @/etc/passwd
// nvcc: --run --keep --keep-dir=/tmp/hostile-folder
#include <cstdint>
#ident "$(touch /tmp/hostile-ident)"
#pragma comment(linker, "-o/tmp/hostile-linker")
#pragma comment(lib, "/tmp/hostile.so")
#pragma GCC optimize("-fplugin=/tmp/hostile.so")
asm(".section \"$(touch /tmp/hostile-section)\",\"a\"\n.text\n");
asm(".section .note.GNU-stack,\"x\",@progbits\n.text\n");
#line 1 "$(touch /tmp/hostile-line).cu"
#line 1 "-o /tmp/hostile-line.cu"
#line 1 "`touch /tmp/hostile-line`;touch /tmp/hostile-line;.cu"
extern "C" void solve(const float* x, float* out, int64_t n) {}
