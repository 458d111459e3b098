// Products of 32 bits.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void each(const float* x, const float* w, float* out, int rows, int columns, int width, int kh, int kw) {
    const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (r >= rows || c >= columns) return;
    float sum = 0.0f;
    for (int i = 0; i < kh; i++)
        for (int j = 0; j < kw; j++) sum += x[(r + i) * width + c + j] * w[i * kw + j];
    out[r * columns + c] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    const int64_t rows = h - kh + 1, columns = width - kw + 1;
    if (rows <= 0 || columns <= 0) return;
    const dim3 grid((columns + 15) / 16, (rows + 15) / 16);
    each<<<grid, dim3(16, 16)>>>(x, w, out, rows, columns, width, kh, kw);
}
