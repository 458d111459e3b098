#include <cstdint>

__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    __shared__ float tile[32][34];
    int64_t i = blockIdx.y * int64_t(32), j = blockIdx.x * int64_t(32);
    if (i + threadIdx.y < rows && j + threadIdx.x < cols) {
        tile[threadIdx.y][threadIdx.x] = x[(i + threadIdx.y) * cols + j + threadIdx.x];
    }
    __syncthreads();
    if (j + threadIdx.y < cols && i + threadIdx.x < rows) {
        float value = tile[threadIdx.x][threadIdx.y];
        out[(j + threadIdx.y) * rows + i + threadIdx.x] = value;
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    dim3 blocks((cols + 31) / 32, (rows + 31) / 32);
    transpose<<<blocks, dim3(32, 32)>>>(x, out, rows, cols);
}
