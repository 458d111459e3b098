// A resident kernel that avoids the switch between contexts.
// Mechanism: a kernel on a side stream polls the gate's word in host memory; when it opens, our context is on the GPU
//   already, and the fixed cost of a round (mostly that switch), which is taken off for everyone, is not paid.
//   Late: it starts only when the outputs are poisoned, so that it takes less from the reveal.
// Surface: the fixed cost c.
// Expected defence: the poller costs the judge a whole time slice before the gate: E is charged and flagged.
#include "attack.cuh"

constexpr int kLate = 0;  // band: 0 1

__global__ void poll(const volatile uint32_t* open, uint32_t round) {
    const long long start = clock64();
    while (static_cast<int>(*open - round) < 0 && clock64() - start < kMostClocks) {
    }
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const Gate gate = find_gate();
    if (!attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    if (kLate) {
        mark(out + n - 1);
        wait_until_overwritten(side(), out + n - 1);
    }
    poll<<<1, 1, 0, side()>>>(gate.device, gate.round());
    add_range(a, b, out, 0, n, side());
    join();
}
