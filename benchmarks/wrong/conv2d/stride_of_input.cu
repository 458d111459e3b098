// Mistake: the output's rows are taken to be as wide as the input's.
// Says: \bout\b ; (width|stride|row)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void conv(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t r = blockIdx.y;
    if (c > width - kw || r > h - kh) return;
    float acc = 0;
    for (int64_t i = 0; i < kh; i++)
        for (int64_t j = 0; j < kw; j++) acc += x[(r + i) * width + c + j] * w[i * kw + j];
    out[r * width + c] = acc; // HERE
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    if (h >= kh && width >= kw) conv<<<dim3((width + 63) / 64, h), 64>>>(x, w, out, h, width, kh, kw);
}
