// A library of four gigabytes.
//
// Mechanism: an array with one value set is data, so the object, the library and each intermediate file hold all
//   of it.
// Surface: the disk, the memory behind it, the transfer to the judge and the database.
// Gain: a full disk; a database that keeps gigabytes for each submission.
// Challenge: twice
// Defence: compile_error
// On: cpu
// Limits: COMPILE_SECONDS 10

#include <cstdint>
char large[1ll << 32] = {1};
extern "C" void solve(const float* x, float* out, int64_t n) {}
