// Mistake: packs the counters of two bins into the halves of a word; beyond 65535, one runs over into the other.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void count(const int32_t* x, unsigned* pairs, int64_t n, int64_t bins) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        if (x[i] >= 0 && x[i] < bins) atomicAdd(&pairs[x[i] / 2], x[i] % 2 ? 0x10000u : 1u);
}

__global__ void unpack(const unsigned* pairs, int32_t* out, int64_t bins) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < bins) out[i] = static_cast<int32_t>(i % 2 ? pairs[i / 2] >> 16 : pairs[i / 2] & 0xffff);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (bins == 0) return;
    unsigned* pairs = nullptr;
    const size_t bytes = (bins + 1) / 2 * sizeof(unsigned);
    if (cudaMallocAsync(reinterpret_cast<void**>(&pairs), bytes, 0) != cudaSuccess) return;
    cudaMemsetAsync(pairs, 0, bytes, 0);
    if (n > 0) count<<<64, 256>>>(x, pairs, n, bins);
    unpack<<<static_cast<unsigned>((bins + 255) / 256), 256>>>(pairs, out, bins);
    cudaFreeAsync(pairs, 0);
}
