// Mistake: no barrier between the pivot's root and the threads that divide by it.
// Says: __syncthreads|barrier
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void factor(const float* a, float* out, int64_t n) {
    const float* from = a + blockIdx.x * n * n;
    float* low = out + blockIdx.x * n * n;
    for (int64_t e = threadIdx.x; e < n * n; e += kThreads) low[e] = e % n <= e / n ? from[e] : 0.0f;
    for (int64_t j = 0; j < n; ++j) {
        __syncthreads();
        if (threadIdx.x == 0) low[j * n + j] = sqrtf(low[j * n + j]); // HERE
        for (int64_t i = j + 1 + threadIdx.x; i < n; i += kThreads) low[i * n + j] /= low[j * n + j]; // HERE
        __syncthreads();
        for (int64_t i = j + 1 + threadIdx.x; i < n; i += kThreads)
            for (int64_t k = j + 1; k <= i; ++k) low[i * n + k] -= low[i * n + j] * low[k * n + j];
    }
}

extern "C" void solve(const float* a, float* out, int64_t batch, int64_t n) {
    if (batch && n) factor<<<static_cast<unsigned>(batch), kThreads>>>(a, out, n);
}
