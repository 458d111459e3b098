// Writes to the terminal of the log's reader.
//
// Mechanism: an error quotes its line: it holds control sequences, a change of writing direction, mark-up and
//   script.
// Surface: the compiler's log, in a terminal and on a page.
// Gain: a terminal that types, a page that runs a stranger's script in a teacher's browser.
// Challenge: twice
// Defence: compile_error
// On: cpu

#include <cstdint>
#error "[2J]0;hostileP+q\ ‮hostile⁦ <script>alert(1)</script> [link](javascript:alert(1))"
int ‮ = ;
extern "C" void solve(const float* x, float* out, int64_t n) {}
