// A block of 256 brings what its 256 results need, 256 weights at a time, into shared memory.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void convolve(const float* x, const float* w, float* out, int64_t n, int64_t results, int64_t k) {
    __shared__ float tile[2 * kThreads], weights[kThreads];
    const int t = threadIdx.x;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads;
    float sum = 0.0f;
    for (int64_t start = 0; start < k; start += kThreads) {
        __syncthreads();
        for (int i = t; i < 2 * kThreads; i += kThreads)
            tile[i] = first + start + i < n ? x[first + start + i] : 0.0f;
        if (start + t < k) weights[t] = w[start + t];
        __syncthreads();
        const int count = k - start < kThreads ? static_cast<int>(k - start) : kThreads;
        for (int i = 0; i < count; ++i) sum += tile[t + i] * weights[i];
    }
    if (first + t < results) out[first + t] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    const int64_t results = n - k + 1;
    if (results > 0)
        convolve<<<static_cast<unsigned>((results + kThreads - 1) / kThreads), kThreads>>>(x, w, out, n, results, k);
}
