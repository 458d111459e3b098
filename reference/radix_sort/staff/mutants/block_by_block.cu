// Mistake: scans the counts block by block, not digit by digit.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kBits = 4, kDigits = 1 << kBits, kThreads = 256, kWarps = kThreads / 32;

__device__ int digit_of(int32_t key, int shift) {
    const int digit = (key >> shift) & (kDigits - 1);
    return shift + kBits == 32 ? digit ^ (kDigits / 2) : digit;
}

__global__ void count(const int32_t* x, int32_t* counts, int64_t n, int shift) {
    __shared__ int32_t own[kDigits];
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (threadIdx.x < kDigits) own[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&own[digit_of(x[i], shift)], 1);
    __syncthreads();
    if (threadIdx.x < kDigits) counts[blockIdx.x * kDigits + threadIdx.x] = own[threadIdx.x];
}

__global__ void scan(int32_t* counts, int total) {
    int32_t ahead = 0;
    for (int i = 0; i < total; ++i) {
        const int32_t own = counts[i];
        counts[i] = ahead;
        ahead += own;
    }
}

__global__ void move(const int32_t* x, int32_t* to, const int32_t* begins, int64_t n, int shift) {
    __shared__ int32_t warps[kWarps][kDigits];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    for (int k = threadIdx.x; k < kWarps * kDigits; k += kThreads) warps[k / kDigits][k % kDigits] = 0;
    __syncthreads();
    const int32_t key = i < n ? x[i] : 0;
    const int digit = digit_of(key, shift);
    unsigned same = __ballot_sync(~0u, i < n);
    for (int b = 0; b < kBits; ++b) {
        const bool one = digit >> b & 1;
        const unsigned ones = __ballot_sync(~0u, one);
        same &= one ? ones : ~ones;
    }
    const unsigned ahead = same & ((1u << lane) - 1);
    if (i < n && ahead == 0) warps[warp][digit] = __popc(same);
    __syncthreads();
    if (i >= n) return;
    int32_t place = begins[blockIdx.x * kDigits + digit] + __popc(ahead);
    for (int w = 0; w < warp; ++w) place += warps[w][digit];
    to[place] = key;
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n) {
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    int32_t *counts = nullptr, *spare = nullptr;
    cudaMalloc(&counts, sizeof(int32_t) * kDigits * blocks);
    cudaMalloc(&spare, sizeof(int32_t) * n);
    const int32_t* keys = x;
    for (int shift = 0; shift < 32; shift += kBits) {
        int32_t* to = keys == spare ? out : spare;
        count<<<blocks, kThreads>>>(keys, counts, n, shift);
        scan<<<1, 1>>>(counts, kDigits * static_cast<int>(blocks));
        move<<<blocks, kThreads>>>(keys, to, counts, n, shift);
        keys = to;
    }
    cudaFree(counts);
    cudaFree(spare);
}
