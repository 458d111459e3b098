// A thread for each window, which loads all of its elements: overlapping windows load the same ones again.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

__global__ void pool(const float* x, float* out, int64_t h, int64_t width, int64_t rows, int64_t columns, int64_t k,
                     int64_t s) {
    const int64_t place = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= rows * columns) return;
    const int64_t row = place / columns, column = place % columns;
    float best = -INFINITY;
    for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < k; ++j) {
            const float value = x[(row * s + i) * width + column * s + j];
            if (value > best || isnan(value)) best = value;
        }
    out[row * columns + column] = best;
}

extern "C" void solve(const float* x, float* out, int64_t h, int64_t width, int64_t k, int64_t s) {
    if (h < k || width < k) return;
    const int64_t rows = (h - k) / s + 1, columns = (width - k) / s + 1;
    const unsigned blocks = static_cast<unsigned>((rows * columns + 127) / 128);
    pool<<<blocks, 128>>>(x, out, h, width, rows, columns, k, s);
}
