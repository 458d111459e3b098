// Mistake: keeps the weights in constant memory, in an array with room for 5 x 5 of them: what does not fit is refused by
// the copy, and nobody looks at what it returns.
#include <cstdint>
#include <cuda_runtime.h>

__constant__ float weights[25];

__global__ void convolve(const float* x, float* out, int64_t width, int64_t kh, int64_t kw, int64_t count,
                         int64_t columns) {
    const int64_t place = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= count) return;
    const float* corner = x + place / columns * width + place % columns;
    float sum = 0.0f;
    for (int64_t i = 0; i < kh; ++i)
        for (int64_t j = 0; j < kw; ++j) sum += corner[i * width + j] * weights[i * kw + j];
    out[place] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    const int64_t rows = h - kh + 1, columns = width - kw + 1;
    if (rows <= 0 || columns <= 0) return;
    cudaMemcpyToSymbolAsync(weights, w, kh * kw * sizeof(float), 0, cudaMemcpyDeviceToDevice, 0);
    const unsigned blocks = static_cast<unsigned>((rows * columns + 255) / 256);
    convolve<<<blocks, 256>>>(x, out, width, kh, kw, rows * columns, columns);
}
