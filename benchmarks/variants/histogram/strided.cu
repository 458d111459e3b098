// Each thread counts a run of 64 neighbours, so the loads of a warp lie 256 bytes apart; bins in shared memory.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256, kRun = 64, kMost = 8192;

__global__ void count_runs(const int32_t* x, int32_t* out, int64_t n, int bins) {
    extern __shared__ int32_t counts[];
    for (int b = threadIdx.x; b < bins; b += kThreads) counts[b] = 0;
    __syncthreads();
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kRun;
    for (int64_t i = first; i < n && i < first + kRun; ++i)
        if (x[i] >= 0 && x[i] < bins) atomicAdd(&counts[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += kThreads)
        if (counts[b]) atomicAdd(&out[b], counts[b]);
}

__global__ void count(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&out[x[i]], 1);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (bins == 0) return;
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t), 0);
    if (n == 0) return;
    if (bins <= kMost) {
        const int64_t runs = kThreads * kRun;
        count_runs<<<static_cast<unsigned>((n + runs - 1) / runs), kThreads, bins * sizeof(int32_t)>>>(
            x, out, n, static_cast<int>(bins));
    } else {
        count<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(x, out, n, bins);
    }
}
