// Convolution in two dimensions: a tile of the image in shared memory, the weights in constant memory, and for each thread
// a patch of results that share what they read. Squares of 3, 5 and 7 have a kernel of their own, in which every loop over
// weights is unrolled; all other sizes go one result to a thread.
#include <cstdint>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
// A thread computes kRows rows of four results, a warp 128 columns of them, a block kWarps times kRows rows.
constexpr int kRows = 8;
constexpr int kTileColumns = 32 * 4;
constexpr int kTileRows = kWarps * kRows;
constexpr int kMostUnrolled = 7;

// All threads read the same weight at the same time, which is what constant memory is made for: a multiplication takes
// it from there without loading it into a register first.
__constant__ float weights[kMostUnrolled * kMostUnrolled];

// The smaller of a count that may be large and one that fits into an int.
__device__ int at_most(int64_t count, int most) { return count < most ? static_cast<int>(count) : most; }

// `tile` gets what the results from (row, column) on need: the tile, and K - 1 rows and columns beyond it (the halo).
// What lies beyond the image is left as it is: only results that are not stored would use it.
template <int K, int Pitch>
__device__ void stage(float (*tile)[Pitch], const float* x, int64_t row, int64_t column, int64_t h, int64_t width) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int rows = at_most(h - row, kTileRows + K - 1);
    const int columns = at_most(width - column, kTileColumns + K - 1);
    const float* source = x + (row + warp) * width + column;
    // Element by element, as rows of an image begin anywhere; the lanes stand side by side. The copies go to shared
    // memory without passing through registers, and nobody waits for them before all are under way.
    for (int r = warp; r < rows; r += kWarps, source += kWarps * width) {
#pragma unroll
        for (int c = 0; c < kTileColumns + K - 1; c += 32)
            if (c + lane < columns) __pipeline_memcpy_async(&tile[r][c + lane], source + c + lane, sizeof(float));
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
}

template <int K>
__global__ void __launch_bounds__(kThreads, 4)  // four blocks to a multiprocessor: while some load, others compute
    square(const float* __restrict__ x, float* out, int64_t h, int64_t width, unsigned tiles_across) {
    // Rows of the tile are a multiple of four long, so that fours in them are aligned to 16 bytes.
    constexpr int kWindow = 4 + (K - 1 + 3) / 4 * 4;
    constexpr int kPitch = kTileColumns - 4 + kWindow;
    __shared__ __align__(16) float tile[kTileRows + K - 1][kPitch];
    __shared__ __align__(16) float turn[kWarps][kTileColumns];

    const int64_t row = static_cast<int64_t>(blockIdx.x / tiles_across) * kTileRows;
    const int64_t column = static_cast<int64_t>(blockIdx.x % tiles_across) * kTileColumns;
    stage<K>(tile, x, row, column, h, width);

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    float sums[kRows][4] = {};
    // Each row of the image is read once and used for every row of results that it reaches: at most K of them.
#pragma unroll
    for (int y = 0; y < kRows + K - 1; ++y) {
        float window[kWindow];
#pragma unroll
        for (int c = 0; c < kWindow; c += 4)
            *reinterpret_cast<float4*>(window + c) =
                *reinterpret_cast<const float4*>(&tile[warp * kRows + y][lane * 4 + c]);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const int i = y - r;  // the row of weights that this row of the image meets in result row r
            if (i < 0 || i >= K) continue;
#pragma unroll
            for (int j = 0; j < K; ++j)
#pragma unroll
                for (int c = 0; c < 4; ++c) sums[r][c] += window[c + j] * weights[i * K + j];
        }
    }

    // A lane has four results next to each other, but a row of `out` may begin anywhere, so they cannot be stored as one
    // float4. The warp turns them round in shared memory, so that each store writes 32 neighbours.
    const int64_t first_row = row + warp * kRows;
    const int64_t result_columns = width - K + 1;
    const int rows = at_most(h - K + 1 - first_row, kRows);
    const int columns = at_most(result_columns - column, kTileColumns);
    float* target = out + first_row * result_columns + column;
#pragma unroll
    for (int r = 0; r < kRows; ++r, target += result_columns) {
        if (r >= rows) break;  // the same for the whole warp
        __syncwarp();          // the row before has been read
        *reinterpret_cast<float4*>(&turn[warp][lane * 4]) =
            make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
        __syncwarp();
#pragma unroll
        for (int c = 0; c < kTileColumns; c += 32)
            if (c + lane < columns) target[c + lane] = turn[warp][c + lane];
    }
}

// Any number of weights: one thread per result.
__global__ void any_size(const float* __restrict__ x, const float* __restrict__ w, float* out, int64_t h, int64_t width,
                         int64_t kh, int64_t kw) {
    const int64_t columns = width - kw + 1;
    const int64_t place = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (place >= (h - kh + 1) * columns) return;
    const float* corner = x + place / columns * width + place % columns;
    float sum = 0.0f;
    for (int64_t i = 0; i < kh; ++i)
        for (int64_t j = 0; j < kw; ++j) sum += corner[i * width + j] * w[i * kw + j];
    out[place] = sum;
}

template <int K>
void launch_square(const float* x, const float* w, float* out, int64_t h, int64_t width) {
    // From device to device, in the order of the stream: the kernel sees this call's weights.
    cudaMemcpyToSymbolAsync(weights, w, K * K * sizeof(float), 0, cudaMemcpyDeviceToDevice, 0);
    const int64_t across = (width - K + 1 + kTileColumns - 1) / kTileColumns;
    const int64_t down = (h - K + 1 + kTileRows - 1) / kTileRows;
    square<K><<<static_cast<unsigned>(across * down), kThreads>>>(x, out, h, width,
                                                                static_cast<unsigned>(across));
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    const int64_t rows = h - kh + 1;
    const int64_t columns = width - kw + 1;
    if (rows <= 0 || columns <= 0) return;  // the weights fit nowhere
    if (kh == 3 && kw == 3) return launch_square<3>(x, w, out, h, width);
    if (kh == 5 && kw == 5) return launch_square<5>(x, w, out, h, width);
    if (kh == 7 && kw == 7) return launch_square<7>(x, w, out, h, width);
    const int64_t blocks = (rows * columns + kThreads - 1) / kThreads;
    any_size<<<static_cast<unsigned>(blocks), kThreads>>>(x, w, out, h, width, kh, kw);
}
