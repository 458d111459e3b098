// A stream of the highest priority with its own wait at the gate.
// Mechanism: the work lies on a stream of highest priority that waits for the gate's word itself, beside the runner's
//   wait on the default stream: where channels are scheduled by priority, it would start sooner than c allows for.
// Surface: the fixed cost c.
// Expected defence: none needed: priorities order streams within a context, not contexts.
#include "attack.cuh"

static cudaStream_t first() {
    static cudaStream_t stream = [] {
        int least = 0, greatest = 0;
        cudaDeviceGetStreamPriorityRange(&least, &greatest);
        cudaStream_t made;
        cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, greatest);
        return made;
    }();
    return stream;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const cudaStream_t stream = first();
    const Gate gate = find_gate();
    if (!attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    stream_wait(stream, gate.device, gate.round());
    add_range(a, b, out, 0, n, stream);
    cudaEventRecord(event(), stream);
    cudaStreamWaitEvent(cudaStreamLegacy, event(), 0);
}
