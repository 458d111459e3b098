#include <cstdint>
#include <cuda_runtime.h>

__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    __shared__ float tile[32][33];
    int64_t top = int64_t(blockIdx.y) * 32;   // first row of x in this tile
    int64_t left = int64_t(blockIdx.x) * 32;  // first column of x in this tile
    int tx = threadIdx.x, ty = threadIdx.y;

    if (top + ty < rows && left + tx < cols) {
        tile[ty][tx] = x[(top + ty) * cols + left + tx];
    }
    __syncthreads();
    if (left + ty < cols && top + tx < rows) {
        out[(left + ty) * rows + top + tx] = tile[tx][ty];
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    dim3 threads(32, 32);
    dim3 blocks(static_cast<unsigned>((cols + 31) / 32), static_cast<unsigned>((rows + 31) / 32));
    transpose<<<blocks, threads>>>(x, out, rows, cols);
}
