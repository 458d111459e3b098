// Early work by the copy engines, with the CPU for the arithmetic.
// Mechanism: copy engines run beside the SMs of another context. A stream waits until the data are complete, copies a
//   share of the inputs to the host, adds there (a host function of the stream), and copies the sums back.
// Surface: shared buffers before the gate opens; engines that time slices of the SMs do not cover.
// Expected defence: the bus moves 50 GB/s where memory moves 4,000: what can be won is below half a percent.
#include "attack.cuh"

constexpr double kPart = 0.003;

struct Share {
    float *a, *b, *out;
    int64_t count;
};

void add_on_host(void* data) {
    const Share& it = *static_cast<Share*>(data);
    for (int64_t i = 0; i < it.count; ++i) it.out[i] = it.a[i] + it.b[i];
}

Share& pinned() {
    static Share made = [] {
        Share it{nullptr, nullptr, nullptr, share(kRanked, kPart)};
        for (float** at : {&it.a, &it.b, &it.out}) cudaMallocHost(reinterpret_cast<void**>(at), 4 * it.count);
        return it;
    }();
    return made;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    Share& host = pinned();
    if (!attack(n, find_gate())) return add_range(a, b, out, 0, n, nullptr);
    mark(out + n - 1);
    wait_until_overwritten(side(), out + n - 1);
    cudaMemcpyAsync(host.a, a, 4 * host.count, cudaMemcpyDeviceToHost, side());
    cudaMemcpyAsync(host.b, b, 4 * host.count, cudaMemcpyDeviceToHost, side());
    cudaLaunchHostFunc(side(), add_on_host, &host);
    cudaMemcpyAsync(out, host.out, 4 * host.count, cudaMemcpyHostToDevice, side());
    add_range(a, b, out, host.count, n, nullptr);
    join();
}
