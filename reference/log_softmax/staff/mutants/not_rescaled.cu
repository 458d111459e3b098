// Mistake: does not rescale the sum so far when a larger maximum turns up.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void log_softmax(const float* x, float* out, int64_t cols) {
    __shared__ float highest[kThreads], totals[kThreads];
    const int thread = threadIdx.x;
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;
    float top = -INFINITY, total = 0.0f;
    for (int64_t i = thread; i < cols; i += kThreads) {
        const float value = row[i], larger = fmaxf(top, value);
        const float reference = larger == -INFINITY ? 0.0f : larger;
        total = total + expf(value - reference);
        top = larger;
    }
    highest[thread] = top, totals[thread] = total;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (thread < half) {
            const float a = highest[thread], b = highest[thread + half], larger = fmaxf(a, b);
            const float reference = larger == -INFINITY ? 0.0f : larger;
            totals[thread] = totals[thread] * expf(a - reference) + totals[thread + half] * expf(b - reference);
            highest[thread] = larger;
        }
        __syncthreads();
    }
    const float logarithm = logf(totals[0]);
    for (int64_t i = thread; i < cols; i += kThreads) result[i] = (row[i] - highest[0]) - logarithm;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) log_softmax<<<static_cast<unsigned>(rows), kThreads>>>(x, out, cols);
}
