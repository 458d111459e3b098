// Mistake: asks whether there are rows * columns > 0 results, and so there are where the weights stand out on both sides:
// -4 times -4 makes 16 of them, written into an array that has none.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void convolve(const float* x, const float* w, float* out, int64_t width, int64_t kh, int64_t kw,
                         int64_t count, int64_t columns) {
    const int64_t place = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= count) return;
    const float* corner = x + place / columns * width + place % columns;
    float sum = 0.0f;
    for (int64_t i = 0; i < kh; ++i)
        for (int64_t j = 0; j < kw; ++j) sum += corner[i * width + j] * w[i * kw + j];
    out[place] = sum;
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    const int64_t columns = width - kw + 1;
    const int64_t count = (h - kh + 1) * columns;
    if (count <= 0) return;
    const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
    convolve<<<blocks, 256>>>(x, w, out, width, kh, kw, count, columns);
}
