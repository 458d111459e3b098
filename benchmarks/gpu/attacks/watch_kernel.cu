// Early work by a kernel that watches the data.
// Mechanism: as watch_stream.cu, but a polling kernel looks at the last word instead of the stream, so that our context
//   is on the GPU, and needs no switch, at the moment when the data are complete.
// Surface: the shared buffers; the time slices between contexts.
// Expected defence: the poller takes whole time slices from the judge's reveal: E is charged and flagged.
#include "attack.cuh"

constexpr double kPart = 1.0;  // band: 1.0 0.03

__global__ void poll(const volatile uint32_t* word) {
    const long long start = clock64();
    while (*word == kMark && clock64() - start < kMostClocks) __nanosleep(100);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (!attack(n, find_gate())) return add_range(a, b, out, 0, n, nullptr);
    const int64_t early = share(n, kPart);
    mark(out + n - 1);
    poll<<<1, 1, 0, side()>>>(reinterpret_cast<const volatile uint32_t*>(out + n - 1));
    add_range(a, b, out, 0, early, side());
    add_range(a, b, out, early, n, nullptr);
    join();
}
