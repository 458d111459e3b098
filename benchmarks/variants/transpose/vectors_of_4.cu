// Tiles of 64 x 64 in shared memory; 16 bytes a load and a store if both sizes are multiples of 4.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 64, kPitch = kTile + 1, kVectors = kTile / 4, kThreads = 256;

__global__ void vectors(const float* x, float* out, int64_t rows, int64_t cols) {
    __shared__ float tile[kTile][kPitch];
    const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kTile, column0 = static_cast<int64_t>(blockIdx.x) * kTile;
    const int lane = threadIdx.x % kVectors * 4;
    for (int r = threadIdx.x / kVectors; r < kTile; r += kThreads / kVectors)
        if (row0 + r < rows && column0 + lane < cols) {
            const float4 four = *reinterpret_cast<const float4*>(x + (row0 + r) * cols + column0 + lane);
            tile[r][lane] = four.x;
            tile[r][lane + 1] = four.y;
            tile[r][lane + 2] = four.z;
            tile[r][lane + 3] = four.w;
        }
    __syncthreads();
    for (int c = threadIdx.x / kVectors; c < kTile; c += kThreads / kVectors)
        if (column0 + c < cols && row0 + lane < rows)
            *reinterpret_cast<float4*>(out + (column0 + c) * rows + row0 + lane) =
                make_float4(tile[lane][c], tile[lane + 1][c], tile[lane + 2][c], tile[lane + 3][c]);
}

__global__ void single(const float* x, float* out, int64_t rows, int64_t cols) {
    __shared__ float tile[kTile][kPitch];
    const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kTile, column0 = static_cast<int64_t>(blockIdx.x) * kTile;
    for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
        const int r = i / kTile, c = i % kTile;
        if (row0 + r < rows && column0 + c < cols) tile[r][c] = x[(row0 + r) * cols + column0 + c];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
        const int c = i / kTile, r = i % kTile;
        if (row0 + r < rows && column0 + c < cols) out[(column0 + c) * rows + row0 + r] = tile[r][c];
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
    if (rows % 4 == 0 && cols % 4 == 0)
        vectors<<<grid, kThreads>>>(x, out, rows, cols);
    else
        single<<<grid, kThreads>>>(x, out, rows, cols);
}
