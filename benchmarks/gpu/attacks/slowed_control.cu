// The control slowed by a submission that is not being called.
// Mechanism: the control's rounds, before and after ours, give the fixed cost c that is taken off our time, and the usual
//   S - G that ours is held against. Our box lives while they run. A thread of ours, when no call has come for a while,
//   keeps the GPU busy from our own context: c and the usual S - G grow, our own rounds are untouched.
//   Heavy: long kernels on all SMs. Light: tiny kernels, which only make the control wait for one more context.
// Surface: the calibration, through whatever the control shares with a living submission.
// Expected defence: control rounds while no submission lives or runs (box stopped or not yet started), or c checked
//   against what the device is known to cost.
#include "attack.cuh"

#include <atomic>
#include <chrono>
#include <thread>

constexpr int kHeavy = 0;  // band: 0 1

using Clock = std::chrono::steady_clock;
static std::atomic<Clock::rep> last_call;

__global__ void burn(long long clocks) {
    const long long start = clock64();
    while (clock64() - start < clocks) {
    }
}

static void disturb() {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (;;) {
        const auto idle = Clock::now().time_since_epoch() - Clock::duration(last_call.load());
        if (idle < std::chrono::milliseconds(120)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        if (kHeavy)
            burn<<<1056, 256, 0, stream>>>(500'000);
        else
            burn<<<1, 32, 0, stream>>>(20'000);
        cudaStreamSynchronize(stream);
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

static bool begin() {
    last_call = Clock::now().time_since_epoch().count();
    std::thread(disturb).detach();
    return true;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    static const bool begun = begin();
    last_call = Clock::now().time_since_epoch().count();
    if (begun) add_range(a, b, out, 0, n, nullptr);
}
