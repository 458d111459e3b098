// Neighbouring threads write neighbours and read a column: 32 sectors for each load of a warp.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
    if (i < rows * cols) out[i] = x[i % rows * cols + i / rows];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = static_cast<unsigned>((rows * cols + 255) / 256);
    transpose<<<blocks, 256>>>(x, out, rows, cols);
}
