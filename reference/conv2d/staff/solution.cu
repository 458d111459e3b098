// Convolution in two dimensions: a tile of the image in shared memory, the weights in constant memory, and for each
// thread a patch of results that share what they read. Squares of 3, 5 and 7 have a kernel of their own, in which every
// loop over weights is unrolled; all other sizes go one result to a thread. What makes it fast:
// - A thread computes 16 rows of four results. It loads a row of pixels from shared memory into registers once, and
//   uses it there for all rows of weights that meet it. The weights cost no loads at all.
// - The image comes into shared memory without passing through registers, and a multiprocessor holds four small blocks:
//   while some load, others compute.
// - Nearly every tile lies in the image with all of its rows and columns. These are loaded and stored without asking of
//   each number whether it is there, which takes a fifth of all instructions away.
// - A warp's stores fall on whole lines of memory, though rows of results begin anywhere. So only the two ends of a
//   tile's row are written in part. Each such 32-byte sector is expensive: where memory corrects errors (ECC), it has
//   to be read, completed and written back, unless its other part comes in time.
#include <cstdint>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
// A thread computes kRows rows of four results, a warp 128 columns of them, a block kWarps times kRows rows.
constexpr int kRows = 16;
// Blocks that a multiprocessor shall hold: the compiler may use no more registers than that leaves for each thread.
constexpr int kResident = 4;
constexpr int kTileColumns = 32 * 4;
constexpr int kTileRows = kWarps * kRows;
constexpr int kMostUnrolled = 7;
constexpr int kLine = 32;  // numbers in a line of memory, 128 bytes

// All threads read the same weight at the same time, which is what constant memory is made for: a multiplication takes
// it from there without loading it into a register first.
__constant__ float weights[kMostUnrolled * kMostUnrolled];

// The smaller of a count that may be large and one that fits into an int.
__device__ int at_most(int64_t count, int most) { return count < most ? static_cast<int>(count) : most; }

// Starts to copy a number into shared memory, and asks for the 256 bytes around it to be brought into the L2 cache: the
// neighbours are wanted too, and memory is read best in long pieces. __pipeline_memcpy_async does the same but for the
// 256 bytes, for which CUDA has no function. On GPUs before sm_80, it copies through a register.
__device__ __forceinline__ void copy_async(float* to, const float* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], 4;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
#else
    __pipeline_memcpy_async(to, from, sizeof(float));
#endif
}

// Starts to load a thread's part of a tile: every kWarps-th row, and of it every 32nd column, so that the lanes stand
// side by side. `source` is where the first of its numbers is and `tile` where that comes to lie; so many `rows` and
// `columns` are there from this one on. What lies beyond the image is left as it is: only results that are not stored
// would use it. Element by element, as rows of an image begin anywhere. kWhole: the image has all of the tile's rows
// and columns.
template <int K, int kPitch, bool kWhole>
__device__ __forceinline__ void load(float* tile, const float* source, int64_t width, int rows, int columns) {
    constexpr int kAllRows = kTileRows + K - 1;
    constexpr int kAllColumns = kTileColumns + K - 1;
    constexpr int kSteps = (kAllRows + kWarps - 1) / kWarps;
#pragma unroll kWhole ? kSteps : 1
    for (int step = 0; step < kSteps; ++step, tile += kWarps * kPitch, source += kWarps * width) {
        const bool surely = kWhole && (step + 1) * kWarps <= kAllRows;  // a row for each warp
        if (!surely && step * kWarps >= rows) break;
#pragma unroll
        for (int c = 0; c < kAllColumns; c += 32)
            if ((kWhole && c + 32 <= kAllColumns) || c < columns) copy_async(tile + c, source + c);
    }
}

// Stores a warp's part of a tile. A lane has four results next to each other, but a row of `out` may begin anywhere, so
// they cannot be stored as one float4. The warp turns them round in shared memory (`turn`), so that each store writes
// neighbours: the 32 numbers of a line. Where the warp's part of a row begins `shift` numbers after the beginning of a
// line, the warp begins as much earlier, leaves out what is not its own, and needs one store more to come to the end.
// kWhole: as above.
template <bool kWhole>
__device__ __forceinline__ void store(const float (&sums)[kRows][4], float* turn, float* target, int64_t pitch,
                                      int rows, int columns) {
    constexpr int kPieces = kTileColumns / kLine + 1;
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < kRows; ++r, target += pitch) {
        if (!kWhole && r >= rows) break;  // the same for the whole warp
        __syncwarp();                     // the row before has been read
        *reinterpret_cast<float4*>(turn + lane * 4) = make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
        __syncwarp();
        const unsigned shift = reinterpret_cast<uintptr_t>(target) / sizeof(float) % kLine;
        const int first = static_cast<int>(lane - shift);
        float* to = target + first;
        const bool early = lane < shift;  // this lane has nothing to store in the first line, and something in the last
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
            if (piece == 0 && early) continue;
            const bool there = kWhole ? piece < kPieces - 1 || early : kLine * piece + first < columns;
            if (there) to[kLine * piece] = turn[kLine * piece + first];
        }
    }
}

template <int K>
__global__ void __launch_bounds__(kThreads, kResident)
    square(const float* __restrict__ x, float* __restrict__ out, int64_t h, int64_t width, unsigned tiles_across) {
    // Rows of the tile are a multiple of four long, so that fours in them are aligned to 16 bytes.
    constexpr int kWindow = 4 + (K - 1 + 3) / 4 * 4;
    constexpr int kPitch = kTileColumns - 4 + kWindow;
    constexpr int kTile = (kTileRows + K - 1) * kPitch;
    __shared__ __align__(16) float shared[kTile + kWarps * kTileColumns];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    float* tile = shared;                                // row r begins at r * kPitch
    float* turn = shared + kTile + warp * kTileColumns;  // for the warp's results, see store

    const int64_t row = static_cast<int64_t>(blockIdx.x / tiles_across) * kTileRows;
    const int64_t column = static_cast<int64_t>(blockIdx.x % tiles_across) * kTileColumns;
    // The tile comes with K - 1 rows and columns beyond it (the halo).
    {
        const int rows = at_most(h - row, kTileRows + K - 1);
        const int columns = at_most(width - column, kTileColumns + K - 1);
        float* place = tile + warp * kPitch + lane;
        const float* source = x + (row + warp) * width + column + lane;
        if (rows == kTileRows + K - 1 && columns == kTileColumns + K - 1)
            load<K, kPitch, true>(place, source, width, rows - warp, columns - lane);
        else
            load<K, kPitch, false>(place, source, width, rows - warp, columns - lane);
        __pipeline_commit();
    }
    __pipeline_wait_prior(0);  // what this thread copies is there
    __syncthreads();           // and so is what the others copy

    float sums[kRows][4] = {};
    // Each row of the image is read once and used for every row of results that it reaches: at most K of them.
#pragma unroll
    for (int y = 0; y < kRows + K - 1; ++y) {
        float window[kWindow];
#pragma unroll
        for (int c = 0; c < kWindow; c += 4)
            *reinterpret_cast<float4*>(window + c) =
                *reinterpret_cast<const float4*>(tile + (warp * kRows + y) * kPitch + lane * 4 + c);
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

    const int64_t first_row = row + warp * kRows;
    const int64_t result_columns = width - K + 1;
    const int rows = at_most(h - K + 1 - first_row, kRows);
    const int columns = at_most(result_columns - column, kTileColumns);
    float* target = out + first_row * result_columns + column;
    if (rows == kRows && columns == kTileColumns)
        store<true>(sums, turn, target, result_columns, rows, columns);
    else
        store<false>(sums, turn, target, result_columns, rows, columns);
}

// Any number of weights: one thread per result.
constexpr int kThreadsAnySize = 256;

__global__ void any_size(const float* __restrict__ x, const float* __restrict__ w, float* out, int64_t h, int64_t width,
                         int64_t kh, int64_t kw) {
    const int64_t columns = width - kw + 1;
    const int64_t place = static_cast<int64_t>(blockIdx.x) * kThreadsAnySize + threadIdx.x;
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
    square<K><<<static_cast<unsigned>(across * down), kThreads>>>(x, out, h, width, static_cast<unsigned>(across));
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    const int64_t rows = h - kh + 1;
    const int64_t columns = width - kw + 1;
    if (rows <= 0 || columns <= 0) return;  // the weights fit nowhere
    if (kh == 3 && kw == 3) return launch_square<3>(x, w, out, h, width);
    if (kh == 5 && kw == 5) return launch_square<5>(x, w, out, h, width);
    if (kh == 7 && kw == 7) return launch_square<7>(x, w, out, h, width);
    const int64_t blocks = (rows * columns + kThreadsAnySize - 1) / kThreadsAnySize;
    any_size<<<static_cast<unsigned>(blocks), kThreadsAnySize>>>(x, w, out, h, width, kh, kw);
}
