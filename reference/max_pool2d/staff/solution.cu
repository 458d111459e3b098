// Max pooling: the maximum of a square is the maximum over its columns of their maxima. A thread has one column of x
// and takes the maxima down the column, for several rows of windows; the block then takes maxima along the rows from
// shared memory. So memory is read by neighbours, whatever k and s are, and each element about once.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;  // at least the 32 columns of the largest window
constexpr int kRows = 4;       // rows of windows per block

// As PyTorch's maximum: NaN if one of both is.
__device__ float larger(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    return a > b || a != a ? a : b;
#endif
}

struct Shape {
    int64_t h, width;
    int64_t rows, columns;  // of out
    int64_t s;
    int k;
    int across;      // windows of a tile's row
    unsigned tiles;  // of a row of tiles
};

// The maxima of this thread's column for kRows rows of windows. With K and S known all loads are independent, and an
// element that several windows share is loaded once.
template <int K, int S>
__device__ void down_the_column(const float* x, const Shape& shape, int64_t row, int64_t column,
                                float (&maxima)[kRows]) {
    if constexpr (K > 0) {
        constexpr int kAll = (kRows - 1) * S + K;
        float values[kAll];
        const float* from = x + row * S * shape.width + column;
#pragma unroll
        for (int i = 0; i < kAll; ++i) values[i] = row * S + i < shape.h ? from[i * shape.width] : -INFINITY;
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            maxima[r] = values[r * S];
#pragma unroll
            for (int i = 1; i < K; ++i) maxima[r] = larger(maxima[r], values[r * S + i]);
        }
    } else {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            maxima[r] = -INFINITY;
            if (row + r >= shape.rows) continue;
            const float* from = x + (row + r) * shape.s * shape.width + column;
            for (int i = 0; i < shape.k; ++i) maxima[r] = larger(maxima[r], from[i * shape.width]);
        }
    }
}

// K = 0: k and s are those of `shape`.
template <int K, int S>
__global__ void __launch_bounds__(kThreads) pool(const float* x, float* out, Shape shape) {
    __shared__ float columns[kRows][kThreads];
    const int k = K > 0 ? K : shape.k;
    const int64_t s = K > 0 ? S : shape.s;
    const int64_t row = static_cast<int64_t>(blockIdx.x / shape.tiles) * kRows;
    const int64_t first = static_cast<int64_t>(blockIdx.x % shape.tiles) * shape.across;
    const int64_t left = shape.columns - first;
    const int across = left < shape.across ? static_cast<int>(left) : shape.across;

    const int mine = static_cast<int>(threadIdx.x);
    // Only columns that are in a window: steps may be longer than windows.
    if (mine < (across - 1) * s + k && mine % s < k) {
        float maxima[kRows];
        down_the_column<K, S>(x, shape, row, first * s + mine, maxima);
#pragma unroll
        for (int r = 0; r < kRows; ++r) columns[r][mine] = maxima[r];
    }
    __syncthreads();

    for (int i = mine; i < kRows * across; i += kThreads) {
        const int r = i / across, c = i % across;
        if (row + r >= shape.rows) break;
        const float* window = columns[r] + c * s;
        float result = window[0];
#pragma unroll
        for (int j = 1; j < (K > 0 ? K : k); ++j) result = larger(result, window[j]);
        out[(row + r) * shape.columns + first + c] = result;
    }
}

extern "C" void solve(const float* x, float* out, int64_t h, int64_t width, int64_t k, int64_t s) {
    if (h < k || width < k) return;  // no window fits, and a grid of 0 blocks is a launch error
    Shape shape = {h, width, (h - k) / s + 1, (width - k) / s + 1, s, static_cast<int>(k), 0, 0};
    shape.across = static_cast<int>((kThreads - k) / s + 1);
    shape.tiles = static_cast<unsigned>((shape.columns + shape.across - 1) / shape.across);
    const unsigned blocks = shape.tiles * static_cast<unsigned>((shape.rows + kRows - 1) / kRows);
    // The usual windows have a kernel in which every loop is unrolled.
    if (k == 2 && s == 2)
        pool<2, 2><<<blocks, kThreads>>>(x, out, shape);
    else if (k == 3 && s == 2)
        pool<3, 2><<<blocks, kThreads>>>(x, out, shape);
    else if (k == 5 && s == 3)
        pool<5, 3><<<blocks, kThreads>>>(x, out, shape);
    else
        pool<0, 0><<<blocks, kThreads>>>(x, out, shape);
}
