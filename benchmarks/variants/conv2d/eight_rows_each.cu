// A thread makes eight results below each other.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void convolve(const float* x, const float* w, float* out, int64_t width, int64_t kh, int64_t kw, int64_t down,
                         int64_t across) {
    const int64_t first = blockIdx.y * int64_t{8}, column = blockIdx.x * int64_t{128} + threadIdx.x;
    if (column >= across) return;
    float sums[8] = {};
    for (int64_t j = 0; j < kw; ++j)
        for (int64_t i = 0; i < kh + 7; ++i) {
            if (first + i >= down + kh - 1) break;
            const float value = x[(first + i) * width + column + j];
#pragma unroll
            for (int r = 0; r < 8; ++r)
                if (i >= r && i - r < kh) sums[r] += value * w[(i - r) * kw + j];
        }
    for (int r = 0; r < 8; ++r)
        if (first + r < down) out[(first + r) * across + column] = sums[r];
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    const int64_t down = h - kh + 1, across = width - kw + 1;
    if (down <= 0 || across <= 0) return;
    convolve<<<dim3((across + 127) / 128, (down + 7) / 8), 128>>>(x, w, out, width, kh, kw, down, across);
}
