// Mistake on a GPU: counts in float32 by ones, which stops at 2^24.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void count(const int32_t* x, float* counters, int64_t n, int64_t bins) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        if (x[i] >= 0 && x[i] < bins) atomicAdd(&counters[x[i]], 1.0f);
}

__global__ void convert(const float* counters, int32_t* out, int64_t bins) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < bins) out[i] = static_cast<int32_t>(counters[i]);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (bins == 0) return;
    float* counters = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&counters), bins * sizeof(float), 0) != cudaSuccess) return;
    cudaMemsetAsync(counters, 0, bins * sizeof(float), 0);
    if (n > 0) count<<<1024, 256>>>(x, counters, n, bins);
    convert<<<static_cast<unsigned>((bins + 255) / 256), 256>>>(counters, out, bins);
    cudaFreeAsync(counters, 0);
}
