// Mistake: one thread for each column of a row. A block has at most 1024 threads: with more columns the launch is
// refused.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

__global__ void softmax(const float* x, float* out, int64_t cols) {
    extern __shared__ float row[];
    const int64_t place = blockIdx.x * cols + threadIdx.x;
    row[threadIdx.x] = x[place];
    __syncthreads();
    float highest = -INFINITY, total = 0.0f;
    for (int64_t i = 0; i < cols; ++i) highest = fmaxf(highest, row[i]);
    for (int64_t i = 0; i < cols; ++i) total += expf(row[i] - highest);
    out[place] = expf(row[threadIdx.x] - highest) / total;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    softmax<<<static_cast<unsigned>(rows), static_cast<unsigned>(cols), cols * sizeof(float)>>>(x, out, cols);
}
