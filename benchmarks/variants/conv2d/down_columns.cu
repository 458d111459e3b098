// One result a thread; a warp's threads lie in a column: 32 rows for each access.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void convolve(const float* x, const float* w, float* out, int64_t width, int64_t kh, int64_t kw, int64_t down,
                         int64_t across) {
    const int64_t row = blockIdx.y * 32 + threadIdx.x, column = blockIdx.x * 8 + threadIdx.y;
    if (row >= down || column >= across) return;
    float sum = 0.0f;
    for (int64_t i = 0; i < kh; ++i)
        for (int64_t j = 0; j < kw; ++j) sum += x[(row + i) * width + column + j] * w[i * kw + j];
    out[row * across + column] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    const int64_t down = h - kh + 1, across = width - kw + 1;
    if (down <= 0 || across <= 0) return;
    convolve<<<dim3((across + 7) / 8, (down + 31) / 32), dim3(32, 8)>>>(x, w, out, width, kh, kw, down, across);
}
