// A side stream that nobody joins.
// Mechanism: the side stream waits for the default one, so that it starts behind the gate, and computes this share;
//   the default stream does not wait for it, so "done" is written while it still runs.
// Surface: streams that the gate does not order.
// Expected defence: the gate's time ends when the judge gets to glance at the outputs, and contexts take turns: our side
//   stream is done by then, and in the time. What is won are the microseconds in which "done" travels to the judge.
#include "attack.cuh"

constexpr double kPart = 1.0;  // band: 1.0 0.03

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (!attack(n, find_gate())) return add_range(a, b, out, 0, n, nullptr);
    const int64_t aside = share(n, kPart);
    cudaEventRecord(event(), cudaStreamLegacy);
    cudaStreamWaitEvent(side(), event(), 0);
    add_range(a, b, out, 0, aside, side());
    add_range(a, b, out, aside, n, nullptr);
}
