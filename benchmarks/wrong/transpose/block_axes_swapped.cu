// Mistake: rows are counted by blockIdx.x, but the grid has the blocks of columns along x.
// Says: blockIdx ; (grid|along)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    int64_t c = (int64_t)blockIdx.y * blockDim.x + threadIdx.x;
    if (r < rows && c < cols) out[c * rows + r] = x[r * cols + c];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (!rows || !cols) return;
    dim3 block(16, 16);
    dim3 grid((cols + 15) / 16, (rows + 15) / 16);
    transpose<<<grid, block>>>(x, out, rows, cols);
}
