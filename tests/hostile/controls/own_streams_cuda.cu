// Uses several streams, and joins them.
//
// Looks: like work on a side stream: four streams that do not wait for the default one.
// Challenge: twice
// Timed: yes
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

static void honest(const float* x, float* out, int64_t n, cudaStream_t stream = nullptr) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
}

constexpr int kStreams = 4;

extern "C" void solve(const float* x, float* out, int64_t n) {
    static cudaStream_t streams[kStreams];
    static cudaEvent_t ready, done[kStreams];
    static const bool made = [] {
        for (int i = 0; i < kStreams; ++i) {
            cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
            cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
        }
        return cudaEventCreateWithFlags(&ready, cudaEventDisableTiming) == cudaSuccess;
    }();
    if (!made) return;
    const int64_t step = (n + kStreams - 1) / kStreams;
    cudaEventRecord(ready, cudaStreamLegacy);
    for (int i = 0; i < kStreams; ++i) {
        const int64_t from = i * step, to = from + step < n ? from + step : n;
        cudaStreamWaitEvent(streams[i], ready, 0);
        honest(x + from, out + from, to - from, streams[i]);
        cudaEventRecord(done[i], streams[i]);
        cudaStreamWaitEvent(cudaStreamLegacy, done[i], 0);
    }
}
