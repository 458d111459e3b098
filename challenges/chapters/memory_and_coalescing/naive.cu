#include <cstdint>

__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t i = blockIdx.y * int64_t(blockDim.y) + threadIdx.y;  // row of x
    int64_t j = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;  // column of x
    if (i < rows && j < cols) {
        float value = x[i * cols + j];
        out[j * rows + i] = value;
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    dim3 threads(32, 8);
    dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
    transpose<<<blocks, threads>>>(x, out, rows, cols);
}
