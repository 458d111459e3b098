// Tiles of 32 x 32 that are restored to dense ones in shared memory, and multiplied without tensor cores.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kTile = 32;

__global__ void multiply(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n,
                         int64_t words) {
    __shared__ float left[kTile][kTile + 1], right[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kTile + y;
    const int64_t column = static_cast<int64_t>(blockIdx.y) * kTile + x;
    float sum = 0.0f;
    for (int64_t word = 0; word < words; ++word) {
        float kept = 0.0f;  // at column x of this word
        if (row < m) {
            const int64_t number = (row * words + word) * 8 + x / 4;
            const int bits = places[number / 2] >> (number % 2 * 4);
            if ((bits & 3) == x % 4) kept = __half2float(values[2 * number]);
            if ((bits >> 2 & 3) == x % 4) kept = __half2float(values[2 * number + 1]);
        }
        left[y][x] = kept;
        right[y][x] = column < n ? __half2float(b[(word * kTile + y) * n + column]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    if (row < m && column < n) out[row * n + column] = __float2half(sum);
}

extern "C" void solve(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n,
                      int64_t words) {
    if (m * n == 0) return;
    const dim3 grid(static_cast<unsigned>((m + kTile - 1) / kTile), static_cast<unsigned>((n + kTile - 1) / kTile));
    multiply<<<grid, dim3(kTile, kTile)>>>(values, places, b, out, m, n, words);
}
