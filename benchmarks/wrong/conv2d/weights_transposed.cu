// Mistake: the weights are indexed with row and column exchanged.
// Says: \bw\b ; (rows and columns|multiplies a row of w|transposed)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void conv2d(const float* x, const float* w, float* out, int h, int width, int kh, int kw) {
    int ow = width - kw + 1, oh = h - kh + 1;
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= oh || c >= ow) return;
    float acc = 0;
    for (int i = 0; i < kh; i++)
        for (int j = 0; j < kw; j++)
            acc += x[(int64_t)(r + i) * width + c + j] * w[j * kh + i];
    out[(int64_t)r * ow + c] = acc;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    int64_t oh = h - kh + 1, ow = width - kw + 1;
    if (oh <= 0 || ow <= 0) return;
    dim3 block(32, 8);
    conv2d<<<dim3((ow + 31) / 32, (oh + 7) / 8), block>>>(x, w, out, h, width, kh, kw);
}
