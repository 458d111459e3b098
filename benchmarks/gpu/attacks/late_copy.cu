// Outputs that a copy engine brings after "done".
// Mechanism: the sums of this share are computed aside and sent to the host; a stream that nobody joins copies them into
//   the output when the call is done. Copy engines work while the GPU turns to the judge's context, and beside it: the
//   judge comes to the end of the output half a millisecond later, and everything is there by then.
// Surface: engines that time slices of the SMs do not cover; the time from "done" to the comparison.
// Expected defence: before the gate's time ends, the judge glances at elements all over the outputs: wrong answer.
#include "attack.cuh"

constexpr double kPart = 0.04;

static float* copy_of(int64_t count, bool on_host) {
    float* made = nullptr;
    if (on_host)
        cudaMallocHost(reinterpret_cast<void**>(&made), 4 * count);
    else
        cudaMalloc(reinterpret_cast<void**>(&made), 4 * count);
    return made;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    static const int64_t late = share(kRanked, kPart);
    static float *aside = copy_of(late, false), *host = copy_of(late, true);
    if (!attack(n, find_gate())) return add_range(a, b, out, 0, n, nullptr);
    const int64_t from = (n - late) / 1024 * 1024, to = from + late;
    add_range(a, b, out, 0, from, nullptr);
    add_range(a, b, out, to, n, nullptr);
    add_range(a + from, b + from, aside, 0, late, nullptr);
    cudaMemcpyAsync(host, aside, 4 * late, cudaMemcpyDeviceToHost, cudaStreamLegacy);
    cudaEventRecord(event(), cudaStreamLegacy);
    cudaStreamWaitEvent(side(), event(), 0);
    cudaMemcpyAsync(out + from, host, 4 * late, cudaMemcpyHostToDevice, side());
}
