// A persisting L2 window.
// Mechanism: sets aside as much L2 as the device allows, and accesses the end of an input through a persisting window.
//   Lines once marked may keep the place when the judge reveals new values into them and then flushes the cache.
// Surface: the L2 flush between reveal and gate, which ordinary stores make.
// Expected defence: the window's 30 MB are one percent of what a ranked call moves: within the band. Beyond that, the
//   flush would have to reset persisting lines.
#include "attack.cuh"

#include <algorithm>

static size_t window_bytes() {
    static const size_t bytes = [] {
        int set_aside = 0, window = 0;
        cudaDeviceGetAttribute(&set_aside, cudaDevAttrMaxPersistingL2CacheSize, 0);
        cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0);
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside);
        return static_cast<size_t>(std::min(set_aside, window));
    }();
    return bytes;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const size_t bytes = window_bytes();
    if (n != kRanked) return add_range(a, b, out, 0, n, nullptr);
    cudaLaunchAttribute policy{};
    policy.id = cudaLaunchAttributeAccessPolicyWindow;
    policy.val.accessPolicyWindow.base_ptr = const_cast<float*>(a + n - bytes / 4);
    policy.val.accessPolicyWindow.num_bytes = bytes;
    policy.val.accessPolicyWindow.hitRatio = 1.0f;
    policy.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    policy.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaLaunchConfig_t config{};
    constexpr int64_t kPerBlock = kThreads * kOwn;
    config.gridDim = dim3(static_cast<unsigned>((n + kPerBlock - 1) / kPerBlock));
    config.blockDim = dim3(kThreads);
    config.stream = cudaStreamLegacy;
    config.attrs = &policy;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, add, a, b, out, n);
}
