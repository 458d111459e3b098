// Early work by a stream that watches the data.
// Mechanism: solve() runs on the host before the reveal. It marks the last word of the output, which the judge poisons
//   last, and has a non-blocking stream wait (cuStreamWaitValue32) until the mark is gone: then all inputs are there,
//   and this share of the outputs is computed while the gate is still closed.
// Surface: the shared buffers, which both processes see while the judge reveals.
// Expected defence: contexts share the SMs by time slices, so early work lengthens the reveal: E is charged and flagged.
#include "attack.cuh"

constexpr double kPart = 1.0;  // band: 1.0 0.03

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (!attack(n, find_gate())) return add_range(a, b, out, 0, n, nullptr);
    const int64_t early = share(n, kPart);
    mark(out + n - 1);
    wait_until_overwritten(side(), out + n - 1);
    add_range(a, b, out, 0, early, side());
    add_range(a, b, out, early, n, nullptr);
    join();
}
