// Ends the assembler's input early.
//
// Mechanism: .end stops the host assembler before the compiled footer. An unchecked entry point precedes it.
// Surface: the text that is appended to a source.
// Gain: an unchecked entry point without wrappers.
// Challenge: twice
// Defence: compile_error, runtime_error
// On: cpu

#include <cstdint>
extern "C" void solve(const float* x, float* out, int64_t n) {}
asm(".text\n.globl grader_entry\n.type grader_entry, @function\ngrader_entry: ud2\n.end\n");
