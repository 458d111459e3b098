// Prints success and ends the process with exit code 0.
//
// Mechanism: prints a verdict and calls _exit(0), from a constructor when the library is loaded.
// Surface: graders that take an exit code for a verdict.
// Gain: accepted, whatever it computes.
// Challenge: twice
// Like: exit_in_handlers
// Defence: runtime_error
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <unistd.h>

__attribute__((constructor)) static void leave() {
    std::puts("{\"verdict\": \"accepted\"}");
    std::fflush(stdout);
    _exit(0);
}

extern "C" void solve(const float*, float*, int64_t) {}
