// Mistake: loads the halo by one extra load per thread, which is enough for 257 weights and not for more: the rest of
// shared memory holds what was there before.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void convolve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    extern __shared__ float tile[];
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads;
    const int64_t i = first + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    if (threadIdx.x < k - 1) tile[kThreads + threadIdx.x] = i + kThreads < n ? x[i + kThreads] : 0.0f;
    __syncthreads();
    if (i >= n - k + 1) return;
    float sum = 0.0f;
    for (int64_t t = 0; t < k; ++t) sum += tile[threadIdx.x + t] * w[t];
    out[i] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    const int64_t count = n - k + 1;
    if (count <= 0) return;
    const size_t bytes = (kThreads + k) * sizeof(float);
    convolve<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, bytes>>>(x, w, out, n, k);
}
