// Mistake: each tile is transposed, but the block writes it at its own place instead of the mirrored one.
// Says: (tile|block) ; (its own place|each other's places|within itself|mirror|transposed within)
#include <cuda_runtime.h>
#include <cstdint>
#define T 32

__global__ void transpose(const float* in, float* out, int64_t rows, int64_t cols) {
    __shared__ float tile[T][T + 1];
    int64_t c = (int64_t)blockIdx.x * T + threadIdx.x;
    int64_t r = (int64_t)blockIdx.y * T + threadIdx.y;
    if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = in[r * cols + c];
    __syncthreads();
    int64_t orow = (int64_t)blockIdx.y * T + threadIdx.y;
    int64_t ocol = (int64_t)blockIdx.x * T + threadIdx.x;
    if (orow < cols && ocol < rows) out[orow * rows + ocol] = tile[threadIdx.x][threadIdx.y];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    int64_t most = rows > cols ? rows : cols;
    int64_t tiles = (most + T - 1) / T;
    transpose<<<dim3(tiles, tiles), dim3(T, T)>>>(x, out, rows, cols);
}
