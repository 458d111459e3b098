// A tree in shared memory whose threads are told apart by a remainder: all warps work to the end.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float parts[256];
    const int t = threadIdx.x;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + t;
    parts[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (t % (2 * step) == 0) parts[t] += parts[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, parts[0]);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n) sum<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
