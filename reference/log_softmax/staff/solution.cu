// Log-softmax by rows: a row stays on chip from its only read to its only write. A short row is a warp's, a longer one a
// block's, both in registers; a long one is shared by blocks, which keep their pieces in shared memory and exchange the
// maximum and the sum of each.
#include <cmath>
#include <cstdint>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kWarpsOfBlock = 4;  // if a warp has a row, a block has four
// 32 KiB of shared memory: six such blocks fit on a multiprocessor, and while one waits the others' copies go on.
constexpr int kLongThreads = 256;
constexpr int kLongFours = 8;
constexpr int kLongBlocks = 6;
constexpr int kLongPiece = 4 * kLongFours * kLongThreads;
constexpr int kSimpleThreads = 256;

// The sum of exp(x - highest) over some elements. With none but -inf, highest is -inf and total is 0.
struct Running {
    float highest;
    float total;
};

// What to subtract. -inf - -inf would be NaN; while there is nothing but -inf, 0 gives the right exponentials.
__device__ float reference_of(float highest) { return highest == -INFINITY ? 0.0f : highest; }

__device__ Running merge(Running a, Running b) {
    const float highest = fmaxf(a.highest, b.highest), reference = reference_of(highest);
    return {highest, a.total * expf(a.highest - reference) + b.total * expf(b.highest - reference)};
}

// A row's threads: kThreads of them, a warp or a block. Every one gets the result.
template <int kThreads>
__device__ float highest_of(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    if constexpr (kThreads > 32) {
        __shared__ float parts[kThreads / 32];
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
        __syncthreads();
        for (int warp = 0; warp < kThreads / 32; ++warp) value = fmaxf(value, parts[warp]);
    }
    return value;
}

template <int kThreads>
__device__ float total_of(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if constexpr (kThreads > 32) {
        __shared__ float parts[kThreads / 32];
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = 0.0f;
        for (int warp = 0; warp < kThreads / 32; ++warp) value += parts[warp];
    }
    return value;
}

// A piece of a row, by places in the whole matrix: those from `first` on that are in [begin, end). `first` is a multiple
// of four, so that loads of 16 bytes are aligned even if the row is not.
struct Piece {
    int64_t first, begin, end;

    // The place of group i of four elements, for one of kThreads threads.
    template <int kThreads>
    __device__ int64_t at(int i) const {
        return first + (i * kThreads + static_cast<int>(threadIdx.x) % kThreads) * 4;
    }
    __device__ bool whole(int64_t place) const { return place >= begin && place + 4 <= end; }
    __device__ bool holds(int64_t place) const { return place >= begin && place < end; }
};

// Reads this thread's part of a piece; -inf for places outside: it is no maximum, and its exponential is 0.
__device__ float4 edge_four(const float* x, const Piece& piece, int64_t place) {
    float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    if (piece.holds(place)) four.x = x[place];
    if (piece.holds(place + 1)) four.y = x[place + 1];
    if (piece.holds(place + 2)) four.z = x[place + 2];
    if (piece.holds(place + 3)) four.w = x[place + 3];
    return four;
}

template <int kThreads, int kFours>
__device__ void bring(const float* x, const Piece& piece, float (&values)[4 * kFours]) {
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
        const int64_t place = piece.at<kThreads>(i);
        const float4 four =
            piece.whole(place) ? *reinterpret_cast<const float4*>(x + place) : edge_four(x, piece, place);
        values[4 * i] = four.x, values[4 * i + 1] = four.y, values[4 * i + 2] = four.z, values[4 * i + 3] = four.w;
    }
}

// Writes (value - highest) - logarithm. In that order: the first difference is exact or nearly so, while
// highest + logarithm would round to the digits of highest.
__device__ void take_four(float* out, const Piece& piece, int64_t place, float4 four, float highest, float logarithm) {
    four = make_float4((four.x - highest) - logarithm, (four.y - highest) - logarithm, (four.z - highest) - logarithm,
                       (four.w - highest) - logarithm);
    if (piece.whole(place)) {
        *reinterpret_cast<float4*>(out + place) = four;
    } else {
        if (piece.holds(place)) out[place] = four.x;
        if (piece.holds(place + 1)) out[place + 1] = four.y;
        if (piece.holds(place + 2)) out[place + 2] = four.z;
        if (piece.holds(place + 3)) out[place + 3] = four.w;
    }
}

template <int kThreads, int kFours>
__device__ void take(float* out, const Piece& piece, const float (&values)[4 * kFours], float highest,
                     float logarithm) {
#pragma unroll
    for (int i = 0; i < kFours; ++i)
        take_four(out, piece, piece.at<kThreads>(i),
                  make_float4(values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]), highest,
                  logarithm);
}

// fmaxf drops NaN, but its exponential makes the total NaN, and with it the whole row; so does +inf, as inf - inf.
template <int kThreads, int kCount>
__device__ Running sums_of(const float (&values)[kCount]) {
    float highest = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < kCount; ++i) highest = fmaxf(highest, values[i]);
    highest = highest_of<kThreads>(highest);
    const float reference = reference_of(highest);
#pragma unroll
    for (int i = 0; i < kCount; ++i) total += expf(values[i] - reference);
    return {highest, total_of<kThreads>(total)};
}

// kThreads threads per row: a warp, of which a block has several, or the whole block.
template <int kThreads, int kFours>
__global__ void __launch_bounds__(kThreads == 32 ? 32 * kWarpsOfBlock : kThreads)
short_rows(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t row = blockIdx.x;
    if constexpr (kThreads == 32) {
        row = row * kWarpsOfBlock + threadIdx.x / 32;
        if (row >= rows) return;  // a whole warp leaves: no shuffle misses a lane
    }
    const int64_t begin = row * cols;  // 64 bits: rows * cols may exceed 2^31
    const Piece piece = {begin / 4 * 4, begin, begin + cols};
    float values[4 * kFours];
    bring<kThreads, kFours>(x, piece, values);
    const Running sums = sums_of<kThreads>(values);
    // A row of nothing but -inf: -inf - -inf is NaN, as it has to be.
    take<kThreads, kFours>(out, piece, values, sums.highest, logf(sums.total));
}

// What the blocks of long rows share. `arrived` counts, for each row, the pieces whose sums are there.
struct Shared {
    float2* sums;
    unsigned* tickets;
    unsigned* arrived;
};

// `pieces` blocks per row. Each keeps its piece, publishes its maximum and its sum, waits for the others of the row, and
// writes. Waiting is safe for two reasons. Blocks take their work in the order in which they start (a ticket, not
// blockIdx, whose order is not promised), so rows are finished in order, too. And a row's blocks all fit on the GPU at
// once, which solve() makes sure of: those of the first unfinished row run, or find a free place.
__global__ void __launch_bounds__(kLongThreads, kLongBlocks)
long_rows(const float* x, float* out, int64_t cols, unsigned pieces, Shared shared) {
    __shared__ float4 held[kLongFours * kLongThreads];  // a thread reads what it brought itself
    __shared__ unsigned ticket;
    __shared__ Running row_sums;
    if (threadIdx.x == 0) ticket = atomicAdd(shared.tickets, 1u);
    __syncthreads();
    const unsigned row = ticket / pieces;
    const int64_t begin = row * cols;
    const int64_t first = begin / 4 * 4 + static_cast<int64_t>(ticket % pieces) * kLongPiece;
    const Piece piece = {first, begin, begin + cols};
    const auto four_of = [&](int i) -> float4& { return held[i * kLongThreads + threadIdx.x]; };
#pragma unroll
    for (int i = 0; i < kLongFours; ++i) {
        const int64_t place = piece.at<kLongThreads>(i);
        if (piece.whole(place))
            __pipeline_memcpy_async(&four_of(i), x + place, sizeof(float4));
        else
            four_of(i) = edge_four(x, piece, place);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    float highest = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < kLongFours; ++i)
        highest = fmaxf(highest, fmaxf(fmaxf(four_of(i).x, four_of(i).y), fmaxf(four_of(i).z, four_of(i).w)));
    highest = highest_of<kLongThreads>(highest);
    const float reference = reference_of(highest);
#pragma unroll
    for (int i = 0; i < kLongFours; ++i)
        total += (expf(four_of(i).x - reference) + expf(four_of(i).y - reference)) +
                 (expf(four_of(i).z - reference) + expf(four_of(i).w - reference));
    const Running mine = {highest, total_of<kLongThreads>(total)};

    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            shared.sums[ticket] = make_float2(mine.highest, mine.total);
            __threadfence();  // the sums have to be visible before the count that announces them
            atomicAdd(&shared.arrived[row], 1u);
            while (*static_cast<volatile unsigned*>(&shared.arrived[row]) < pieces) {
            }
            __threadfence();
        }
        __syncwarp();
        Running all = {-INFINITY, 0.0f};
        for (unsigned i = threadIdx.x; i < pieces; i += 32) {
            // Past the L1 cache, which may still hold the bytes from before other blocks wrote.
            const float2 sums = __ldcg(&shared.sums[static_cast<int64_t>(row) * pieces + i]);
            all = merge(all, {sums.x, sums.y});
        }
        for (int distance = 16; distance > 0; distance /= 2)
            all = merge(all, {__shfl_xor_sync(0xffffffffu, all.highest, distance),
                              __shfl_xor_sync(0xffffffffu, all.total, distance)});
        if (threadIdx.x == 0) row_sums = {all.highest, logf(all.total)};
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kLongFours; ++i)
        take_four(out, piece, piece.at<kLongThreads>(i), four_of(i), row_sums.highest, row_sums.total);
}

// For rows that do not fit on the GPU at once: one block per row, which reads it twice.
__global__ void __launch_bounds__(kSimpleThreads) endless_rows(const float* x, float* out, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;
    Running mine = {-INFINITY, 0.0f};
    for (int64_t i = threadIdx.x; i < cols; i += kSimpleThreads)
        mine = merge(mine, {row[i], row[i] == -INFINITY ? 0.0f : 1.0f});
    __shared__ Running parts[kSimpleThreads];
    parts[threadIdx.x] = mine;
    __syncthreads();
    for (int half = kSimpleThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = merge(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    const Running all = parts[0];
    const float logarithm = logf(all.total);
    for (int64_t i = threadIdx.x; i < cols; i += kSimpleThreads) result[i] = (row[i] - all.highest) - logarithm;
}

// Blocks of long_rows that run at once.
int64_t resident_blocks() {
    int device = 0, multiprocessors = 0, each = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, long_rows, kLongThreads, 0);
    return int64_t{multiprocessors} * each;
}

void launch_long_rows(const float* x, float* out, int64_t rows, int64_t cols, int64_t pieces) {
    const int64_t blocks = rows * pieces;
    const size_t sums_bytes = blocks * sizeof(float2), counts_bytes = (1 + rows) * sizeof(unsigned);
    char* memory = nullptr;
    // In the order of the stream, like the launch: cudaMalloc would wait for the GPU.
    if (cudaMallocAsync(reinterpret_cast<void**>(&memory), sums_bytes + counts_bytes, 0) != cudaSuccess) return;
    unsigned* counts = reinterpret_cast<unsigned*>(memory + sums_bytes);
    cudaMemsetAsync(counts, 0, counts_bytes, 0);
    const Shared shared = {reinterpret_cast<float2*>(memory), counts, counts + 1};
    long_rows<<<static_cast<unsigned>(blocks), kLongThreads>>>(x, out, cols, static_cast<unsigned>(pieces), shared);
    cudaFreeAsync(memory, 0);
}

// Launches short_rows if a row fits into the registers of its threads.
template <int kThreads, int kFours>
bool launch_short_rows(const float* x, float* out, int64_t rows, int64_t cols) {
    // A row that does not begin at a multiple of four shifts by up to three places.
    if ((cols % 4 == 0 ? cols : cols + 3) > 4 * kFours * kThreads) return false;
    constexpr int kRows = kThreads == 32 ? kWarpsOfBlock : 1;
    const unsigned blocks = static_cast<unsigned>((rows + kRows - 1) / kRows);
    short_rows<kThreads, kFours><<<blocks, kThreads * kRows>>>(x, out, rows, cols);
    return true;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;  // a grid of 0 blocks is a launch error
    if (launch_short_rows<32, 2>(x, out, rows, cols) || launch_short_rows<32, 8>(x, out, rows, cols) ||
        launch_short_rows<256, 4>(x, out, rows, cols) || launch_short_rows<512, 4>(x, out, rows, cols))
        return;
    const int64_t pieces = ((cols % 4 == 0 ? cols : cols + 3) + kLongPiece - 1) / kLongPiece;
    // Half of what fits: others may be using the GPU as well. A grid ends at 2^31 - 1 blocks.
    if (pieces <= resident_blocks() / 2 && rows * pieces <= INT32_MAX)
        return launch_long_rows(x, out, rows, cols, pieces);
    endless_rows<<<static_cast<unsigned>(rows), kSimpleThreads>>>(x, out, cols);
}
