// Lanes of a warp with one value find each other first, and one of them adds for all, in shared memory.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256, kMost = 4096;
constexpr unsigned kAll = 0xffffffffu;

__global__ void count_own(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    extern __shared__ int32_t own[];
    for (int64_t b = threadIdx.x; b < bins; b += kThreads) own[b] = 0;
    __syncthreads();
    const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
    for (int64_t base = static_cast<int64_t>(blockIdx.x) * kThreads; base < n; base += step) {
        const int64_t i = base + threadIdx.x;
        const int32_t value = i < n ? x[i] : -1;
        const unsigned peers = __match_any_sync(kAll, value);
        if (value >= 0 && value < bins && __ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(&own[value], __popc(peers));
    }
    __syncthreads();
    for (int64_t b = threadIdx.x; b < bins; b += kThreads)
        if (own[b]) atomicAdd(&out[b], own[b]);
}

__global__ void count(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&out[x[i]], 1);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (bins == 0) return;
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t), 0);
    if (n == 0) return;
    if (bins <= kMost)
        count_own<<<528, kThreads, bins * sizeof(int32_t)>>>(x, out, n, bins);
    else
        count<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(x, out, n, bins);
}
