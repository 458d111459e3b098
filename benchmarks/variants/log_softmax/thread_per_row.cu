// A thread for each row: the accesses of a warp are a row apart.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

// A float32 that sums more of them, one by one, loses too much.
constexpr int64_t kTogether = 256;

__global__ void log_softmax(const float* x, float* out, int64_t rows, int64_t cols) {
    const int64_t number = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
    if (number >= rows) return;
    const float* row = x + number * cols;
    float highest = -INFINITY, sum = 0.0f;
    for (int64_t i = 0; i < cols; ++i) highest = fmaxf(highest, row[i]);
    for (int64_t first = 0; first < cols; first += kTogether) {
        const int64_t end = min(first + kTogether, cols);
        float part = 0.0f;
        for (int64_t i = first; i < end; ++i) part += expf(row[i] - highest);
        sum += part;
    }
    const float logarithm = logf(sum);
    for (int64_t i = 0; i < cols; ++i) out[number * cols + i] = (row[i] - highest) - logarithm;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) log_softmax<<<static_cast<unsigned>((rows + 31) / 32), 32>>>(x, out, rows, cols);
}
