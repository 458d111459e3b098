// A cache by call count.
// Mechanism: is honest for the first calls at a size (warm-ups, which others do not check), then hands out what it
//   computed there.
// Surface: graders that check some calls and time others.
// Expected defence: every output of every timed call is compared, on inputs of its own: wrong answer.
#include "attack.cuh"

constexpr int kHonestCalls = 2;
static float* kept;

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    static int calls = 0;
    if (n != kRanked) return add_range(a, b, out, 0, n, nullptr);
    if (kept == nullptr) {
        cudaMalloc(&kept, 4 * n);
        add_range(a, b, kept, 0, n, nullptr);
    }
    if (calls++ < kHonestCalls) return add_range(a, b, out, 0, n, nullptr);
    cudaMemcpyAsync(out, kept, 4 * n, cudaMemcpyDeviceToDevice, cudaStreamLegacy);
}
