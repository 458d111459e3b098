// Ends the assembler's input early.
//
// Mechanism: .end stops the host assembler; what the compiler made of the footer stands behind it. An entry point of
//   its own stands before.
// Surface: the text that is appended to a source.
// Gain: an entry point that nothing has checked, and none of the wrappers.
// Challenge: twice
// Defence: compile_error, runtime_error
// On: cpu

#include <cstdint>
extern "C" void solve(const float* x, float* out, int64_t n) {}
asm(".text\n.globl grader_entry\n.type grader_entry, @function\ngrader_entry: ud2\n.end\n");
