// Softmax by rows: one block per row, one pass for maximum and sum together, a second pass that writes.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

// The sum of exp(x - highest) over the elements seen so far.
struct Running {
    float highest;
    float total;
};

__device__ Running merge(Running a, Running b) {
    const float highest = fmaxf(a.highest, b.highest);
    // Nothing but -inf so far: take 0 as reference, as -inf - -inf would be NaN for good.
    const float reference = highest == -INFINITY ? 0.0f : highest;
    return {highest, a.total * expf(a.highest - reference) + b.total * expf(b.highest - reference)};
}

__global__ void softmax(const float* x, float* out, int64_t cols) {
    const float* row = x + blockIdx.x * cols;  // 64 bits: rows * cols may exceed 2^31
    float* result = out + blockIdx.x * cols;

    Running mine = {-INFINITY, 0.0f};
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
        const float value = row[i];
        // fmaxf drops NaN, but expf of it makes the total NaN, which is what the row shall be.
        mine = merge(mine, {value, value == -INFINITY ? 0.0f : 1.0f});
    }

    __shared__ Running parts[kThreads];
    parts[threadIdx.x] = mine;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = merge(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    const Running all = parts[0];

    for (int64_t i = threadIdx.x; i < cols; i += kThreads) result[i] = expf(row[i] - all.highest) / all.total;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;  // a grid of 0 blocks is a launch error
    softmax<<<static_cast<unsigned>(rows), kThreads>>>(x, out, cols);
}
