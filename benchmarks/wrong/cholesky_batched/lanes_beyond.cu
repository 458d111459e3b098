// Mistake: lanes beyond the matrix read its rows as well, and leave the array in the last one.
// Says: (past|outside|beyond|end)
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kMost = 256;

__global__ void factor(const float* a, float* out, int64_t n) {
    __shared__ float column[kMost];
    const float* from = a + blockIdx.x * n * n;
    float* low = out + blockIdx.x * n * n;
    const int64_t i = threadIdx.x;
    for (int64_t j = 0; j < n; ++j) {
        float rest = from[i * n + j]; // HERE
        for (int64_t k = 0; k < j; ++k) rest -= low[i * n + k] * low[j * n + k]; // HERE
        column[i] = rest;
        __syncthreads();
        if (i < n) low[i * n + j] = i < j ? 0.0f : i == j ? sqrtf(rest) : rest / sqrtf(column[j]);
        __syncthreads();
    }
}

extern "C" void solve(const float* a, float* out, int64_t batch, int64_t n) {
    if (batch && n) factor<<<static_cast<unsigned>(batch), kMost>>>(a, out, n);
}
