// A context kept busy.
// Mechanism: a one-thread kernel on a side stream runs from before the reveal until "done", so that our context always
//   has work and is scheduled early; the work itself is honest and on the default stream.
// Surface: the fixed cost c, the scheduling between contexts.
// Expected defence: a context with work takes time slices from the reveal: E is charged and flagged.
#include "attack.cuh"

__global__ void idle_until_done(const volatile uint32_t* done, uint32_t round) {
    const long long start = clock64();
    while (*done != round && clock64() - start < kMostClocks) __nanosleep(500);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const Gate gate = find_gate();
    if (!attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    idle_until_done<<<1, 1, 0, side()>>>(gate.device + 16, gate.round());
    add_range(a, b, out, 0, n, nullptr);
}
