// Softmax by rows: a row stays in registers from its only read to its only write. A short row is one block's; a long
// one is shared by blocks, which tell each other the maximum and the sum of their pieces.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kFours = 4;  // a thread keeps this many groups of four neighbours
constexpr int kOwn = 4 * kFours;
constexpr int kLongThreads = 512;
constexpr int kSimpleThreads = 256;

// The sum of exp(x - highest) over some elements; highest is -inf and total 0 where all of them are -inf.
struct Running {
    float highest;
    float total;
};

// What to subtract: -inf - -inf would be NaN for good, so where there is nothing but -inf yet, 0 does as well.
__device__ float reference_of(float highest) { return highest == -INFINITY ? 0.0f : highest; }

__device__ Running merge(Running a, Running b) {
    const float highest = fmaxf(a.highest, b.highest), reference = reference_of(highest);
    return {highest, a.total * expf(a.highest - reference) + b.total * expf(b.highest - reference)};
}

template <int kThreads>
__device__ float highest_of_block(float value) {
    __shared__ float parts[kThreads / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    for (int warp = 0; warp < kThreads / 32; ++warp) value = fmaxf(value, parts[warp]);
    return value;
}

template <int kThreads>
__device__ float total_of_block(float value) {
    __shared__ float parts[kThreads / 32];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int warp = 0; warp < kThreads / 32; ++warp) value += parts[warp];
    return value;
}

// A block's piece of a row, by places in the whole matrix: those from `first` on that lie in [begin, end). `first` is a
// multiple of four, so that loads of 16 bytes are aligned even where the row is not.
struct Piece {
    int64_t first, begin, end;

    // Where this thread's group i begins.
    template <int kThreads>
    __device__ int64_t at(int i) const {
        return first + (i * kThreads + static_cast<int>(threadIdx.x)) * 4;
    }
    __device__ bool whole(int64_t place) const { return place >= begin && place + 4 <= end; }
    __device__ bool holds(int64_t place) const { return place >= begin && place < end; }
};

// Brings this thread's part of a piece into registers; -inf for what is outside: it is no maximum, and its exp is 0.
template <int kThreads>
__device__ void bring(const float* x, const Piece& piece, float (&values)[kOwn]) {
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
        const int64_t place = piece.at<kThreads>(i);
        float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (piece.whole(place)) {
            four = *reinterpret_cast<const float4*>(x + place);
        } else {
            if (piece.holds(place)) four.x = x[place];
            if (piece.holds(place + 1)) four.y = x[place + 1];
            if (piece.holds(place + 2)) four.z = x[place + 2];
            if (piece.holds(place + 3)) four.w = x[place + 3];
        }
        values[4 * i] = four.x, values[4 * i + 1] = four.y, values[4 * i + 2] = four.z, values[4 * i + 3] = four.w;
    }
}

template <int kThreads>
__device__ void take(float* out, const Piece& piece, const float (&values)[kOwn], float factor) {
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
        const int64_t place = piece.at<kThreads>(i);
        const float4 four = make_float4(values[4 * i] * factor, values[4 * i + 1] * factor,
                                        values[4 * i + 2] * factor, values[4 * i + 3] * factor);
        if (piece.whole(place)) {
            *reinterpret_cast<float4*>(out + place) = four;
        } else {
            if (piece.holds(place)) out[place] = four.x;
            if (piece.holds(place + 1)) out[place + 1] = four.y;
            if (piece.holds(place + 2)) out[place + 2] = four.z;
            if (piece.holds(place + 3)) out[place + 3] = four.w;
        }
    }
}

// Replaces values by their exponentials, relative to the block's highest, and sums them. NaN: fmaxf drops it, but its
// exponential makes the total NaN, which is what its row shall be. +inf does so, too: inf - inf.
template <int kThreads>
__device__ Running exponentials(float (&values)[kOwn]) {
    float highest = -INFINITY, total = 0.0f;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) highest = fmaxf(highest, values[i]);
    highest = highest_of_block<kThreads>(highest);
    const float reference = reference_of(highest);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        values[i] = expf(values[i] - reference);
        total += values[i];
    }
    return {highest, total_of_block<kThreads>(total)};
}

// One block per row.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) short_rows(const float* x, float* out, int64_t cols) {
    const int64_t begin = blockIdx.x * cols;  // 64 bits: rows * cols may exceed 2^31
    const Piece piece = {begin / 4 * 4, begin, begin + cols};
    float values[kOwn];
    bring<kThreads>(x, piece, values);
    const Running row = exponentials<kThreads>(values);
    // A row of nothing but -inf: 0 * (1 / 0) is NaN, as it shall be.
    take<kThreads>(out, piece, values, 1.0f / row.total);
}

// What the blocks of long rows share. `arrived` counts, for each row, the pieces whose sums are there.
struct Shared {
    float2* sums;
    unsigned* tickets;
    unsigned* arrived;
};

// `pieces` blocks per row. Each keeps its piece, says what its maximum and sum are, waits for the others of the row,
// and writes. Waiting is safe because blocks take their work in the order in which they start (a ticket, not blockIdx:
// the order of that is not promised), so that rows are finished in order, too; and because a row's blocks all fit on
// the GPU at once, which solve() makes sure of: those of the first unfinished row run, or find a free place.
__global__ void __launch_bounds__(kLongThreads, 3)
long_rows(const float* x, float* out, int64_t cols, unsigned pieces, Shared shared) {
    __shared__ unsigned ticket;
    __shared__ float factor;
    if (threadIdx.x == 0) ticket = atomicAdd(shared.tickets, 1u);
    __syncthreads();
    const unsigned row = ticket / pieces;
    const int64_t begin = row * cols;
    const int64_t first = begin / 4 * 4 + static_cast<int64_t>(ticket % pieces) * (kLongThreads * kOwn);
    const Piece piece = {first, begin, begin + cols};
    float values[kOwn];
    bring<kLongThreads>(x, piece, values);
    const Running mine = exponentials<kLongThreads>(values);

    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            shared.sums[ticket] = make_float2(mine.highest, mine.total);
            __threadfence();  // the sums are to be seen before the count that says so
            atomicAdd(&shared.arrived[row], 1u);
            while (*static_cast<volatile unsigned*>(&shared.arrived[row]) < pieces) {
            }
            __threadfence();
        }
        __syncwarp();
        Running all = {-INFINITY, 0.0f};
        for (unsigned i = threadIdx.x; i < pieces; i += 32) {
            // Past the L1 cache, which may still hold what was there before other blocks wrote.
            const float2 sums = __ldcg(&shared.sums[static_cast<int64_t>(row) * pieces + i]);
            all = merge(all, {sums.x, sums.y});
        }
        for (int distance = 16; distance > 0; distance /= 2)
            all = merge(all, {__shfl_xor_sync(0xffffffffu, all.highest, distance),
                              __shfl_xor_sync(0xffffffffu, all.total, distance)});
        // From this piece's maximum to the row's, and divided by the row's sum; 0 / 0 where all is -inf.
        if (threadIdx.x == 0) factor = expf(mine.highest - reference_of(all.highest)) / all.total;
    }
    __syncthreads();
    take<kLongThreads>(out, piece, values, factor);
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
    for (int64_t i = threadIdx.x; i < cols; i += kSimpleThreads) result[i] = expf(row[i] - all.highest) / all.total;
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

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;  // a grid of 0 blocks is a launch error
    const unsigned blocks = static_cast<unsigned>(rows);
    // A row that does not begin at a multiple of four shifts by up to three places.
    const int64_t places = cols % 4 == 0 ? cols : cols + 3;
    if (places <= 64 * kOwn) return short_rows<64><<<blocks, 64>>>(x, out, cols);
    if (places <= 128 * kOwn) return short_rows<128><<<blocks, 128>>>(x, out, cols);
    if (places <= 256 * kOwn) return short_rows<256><<<blocks, 256>>>(x, out, cols);
    if (places <= 512 * kOwn) return short_rows<512><<<blocks, 512>>>(x, out, cols);
    const int64_t pieces = (places + kLongThreads * kOwn - 1) / (kLongThreads * kOwn);
    // Half of what fits: others may be using the GPU as well. A grid ends at 2^31 - 1 blocks.
    if (pieces <= resident_blocks() / 2 && rows * pieces <= INT32_MAX)
        return launch_long_rows(x, out, rows, cols, pieces);
    endless_rows<<<blocks, kSimpleThreads>>>(x, out, cols);
}
