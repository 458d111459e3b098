// A solve that is chosen at link time.
//
// Mechanism: the symbol is an indirect function: its resolver runs inside the dynamic linker, before any
//   constructor.
// Surface: any process that looks up the symbol.
// Gain: code in a process that only looks.
// Challenge: twice
// Defence: runtime_error, compile_error
// On: cpu, gpu

#include <cstdint>
#include <unistd.h>
extern "C" void* choose() {
    _exit(5);
    return nullptr;
}
asm(".globl chosen\n.type chosen, @gnu_indirect_function\n.set chosen, choose\n");
extern "C" void chosen();
extern "C" void solve(const float* x, float* out, int64_t n) { chosen(); }
// Bound when the library is loaded, not at the first call.
void (*const bound)() = chosen;
