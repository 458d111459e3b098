// Mistake: the image is indexed by the column first, as if it were stored by columns.
// Says: \bx\b ; (rows and columns|transposed|exchanged|by columns|column first|stride)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void conv(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    int64_t c = blockIdx.x * 16LL + threadIdx.x, r = blockIdx.y * 16LL + threadIdx.y;
    int64_t rows = h - kh + 1, columns = width - kw + 1;
    if (r >= rows || c >= columns) return;
    float sum = 0;
    for (int64_t i = 0; i < kh; i++)
        for (int64_t j = 0; j < kw; j++) sum += x[(c + j) * h + r + i] * w[i * kw + j];
    out[r * columns + c] = sum;
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    int64_t rows = h - kh + 1, columns = width - kw + 1;
    if (rows > 0 && columns > 0) conv<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, w, out, h, width, kh, kw);
}
