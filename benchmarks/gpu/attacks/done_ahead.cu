// "Done" for rounds that are to come.
// Mechanism: the judge's stream waits until the done word is this round's number or a later one. The word is set to a
//   number far ahead before the gate opens, so that the judge's stream does not wait at all.
// Surface: the done word, which is only a hint.
// Expected defence: the judge compares at once: nothing is there yet. Wrong answer.
#include "attack.cuh"

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const Gate gate = find_gate();
    if (attack(n, gate)) gate.words[16] = gate.round() + 1'000'000;
    add_range(a, b, out, 0, n, nullptr);
}
