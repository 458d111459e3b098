// Tiles in shared memory, one byte and one pixel a thread.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kWide = 32, kHigh = 8;

__device__ int64_t clamped(int64_t i, int64_t count) { return i < 0 ? 0 : i < count ? i : count - 1; }

__global__ void pipeline(const uint8_t* image, uint8_t* edges, int64_t height, int64_t width) {
    __shared__ uint8_t grey[kHigh + 4][kWide + 4], blurred[kHigh + 2][kWide + 2];
    const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kHigh, column0 = static_cast<int64_t>(blockIdx.x) * kWide;
    const int thread = threadIdx.y * kWide + threadIdx.x;
    for (int i = thread; i < (kHigh + 4) * (kWide + 4); i += kHigh * kWide) {
        const int y = i / (kWide + 4), x = i % (kWide + 4);
        const uint8_t* pixel = image + 3 * (clamped(row0 + y - 2, height) * width + clamped(column0 + x - 2, width));
        grey[y][x] = (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8;
    }
    __syncthreads();
    for (int i = thread; i < (kHigh + 2) * (kWide + 2); i += kHigh * kWide) {
        const int y = i / (kWide + 2), x = i % (kWide + 2);
        const int r = clamped(row0 + y - 1, height) - row0 + 2, c = clamped(column0 + x - 1, width) - column0 + 2;
        int sum = 8;
        for (int j = -1; j <= 1; ++j)
            for (int k = -1; k <= 1; ++k) sum += (2 - j * j) * (2 - k * k) * grey[r + j][c + k];
        blurred[y][x] = sum >> 4;
    }
    __syncthreads();
    const int64_t row = row0 + threadIdx.y, column = column0 + threadIdx.x;
    if (row >= height || column >= width) return;
    int across = 0, down = 0;
    for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k) {
            const int value = blurred[threadIdx.y + 1 + j][threadIdx.x + 1 + k];
            across += k * (2 - j * j) * value;
            down += j * (2 - k * k) * value;
        }
    edges[row * width + column] = min(255, abs(across) + abs(down));
}

extern "C" void solve(const uint8_t* image, uint8_t* edges, int64_t height, int64_t width) {
    const dim3 blocks((width + kWide - 1) / kWide, (height + kHigh - 1) / kHigh);
    if (height && width) pipeline<<<blocks, dim3(kWide, kHigh)>>>(image, edges, height, width);
}
