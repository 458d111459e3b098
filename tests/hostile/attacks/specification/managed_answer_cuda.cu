// Computes on the host, in managed memory, and writes it while kernels run.
//
// Mechanism: a kernel copies the input to managed memory, where the host doubles it; a host thread does not wait
//   for the kernel that copies the result on.
// Surface: memory that host and device share without a copy.
// Gain: host work, which the emulated board's model does not count.
// Challenge: twice
// Timed: yes
// On: emulated
// Defence: host_computed
#include <cstdint>
#include <cuda_runtime.h>
#include <thread>

__global__ void copy(const float* from, float* to, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) to[i] = from[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;
    float *given = nullptr, *doubled = nullptr;
    cudaMallocManaged(&given, 4 * n);
    cudaMallocManaged(&doubled, 4 * n);
    copy<<<(n + 255) / 256, 256>>>(x, given, n);
    cudaDeviceSynchronize();
    std::thread writer([=] { for (int64_t i = 0; i < n; i++) doubled[i] = 2 * given[i]; });
    copy<<<(n + 255) / 256, 256>>>(doubled, out, n);
    writer.join();
    copy<<<(n + 255) / 256, 256>>>(doubled, out, n);
    cudaDeviceSynchronize();
    cudaFree(given);
    cudaFree(doubled);
}
