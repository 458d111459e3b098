// Each thread adds 32 neighbours: a warp's accesses lie 128 bytes apart.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kRun = 32;

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kRun;
    for (int64_t i = first; i < first + kRun && i < n; ++i) out[i] = a[i] + b[i];
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    add<<<static_cast<unsigned>((n + 256 * kRun - 1) / (256 * kRun)), 256>>>(a, b, out, n);
}
