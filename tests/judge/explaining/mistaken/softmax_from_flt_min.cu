#include <cfloat>
#include <cstdint>
#include <cuda_runtime.h>

__global__ void softmax(const float* in, float* res, int64_t height, int64_t width) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= height) return;
    float top = FLT_MIN, sum = 0.0f;
    for (int64_t c = 0; c < width; c++) top = max(top, in[r * width + c]);
    for (int64_t c = 0; c < width; c++) sum += expf(in[r * width + c] - top);
    for (int64_t c = 0; c < width; c++) res[r * width + c] = expf(in[r * width + c] - top) / sum;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows > 0 && cols > 0) softmax<<<(rows + 31) / 32, 32>>>(x, out, rows, cols);
}
