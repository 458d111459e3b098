// "Done" early, outputs finished after it.
// Mechanism: the gate's page is in our address space. The stream writes its done word behind most of the work, and the
//   rest of the work is enqueued after that: our context keeps the GPU until it is idle or its time slice is over, so
//   the rest is ready before the judge's comparison gets to run, and every output is right.
// Surface: the done word, which is only a hint.
// Expected defence: the gate's time ends when the judge gets to glance at the outputs, not at "done".
#include "attack.cuh"

constexpr double kPart = 0.03;  // band: 0.01 0.03 0.2

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const Gate gate = find_gate();
    if (!attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    const int64_t late = share(n, kPart);
    add_range(a, b, out, 0, n - late, nullptr);
    stream_write(cudaStreamLegacy, gate.device + 16, gate.round());
    add_range(a, b, out, n - late, n, nullptr);
}
