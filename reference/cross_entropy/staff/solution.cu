// Cross entropy: each row is read once, with a running maximum and a running sum. A warp has a short row, a block a
// longer one.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int64_t kIgnored = -100;
constexpr int64_t kShortRow = 1024;  // up to here a warp has a row, and needs no __syncthreads
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kFours = 4;  // a thread has this many loads of 16 bytes in flight

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

// Four elements from `place` on; -inf outside the row, which is no maximum and whose exponential is 0.
__device__ float4 bring(const float* x, int64_t place, int64_t begin, int64_t end) {
    if (place >= begin && place + 4 <= end) return *reinterpret_cast<const float4*>(x + place);
    float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    if (place >= begin && place < end) four.x = x[place];
    if (place + 1 >= begin && place + 1 < end) four.y = x[place + 1];
    if (place + 2 >= begin && place + 2 < end) four.z = x[place + 2];
    if (place + 3 >= begin && place + 3 < end) four.w = x[place + 3];
    return four;
}

// One thread's share of the row [begin, end), places in the whole matrix. The walk starts at a multiple of four, so
// that loads of 16 bytes are aligned even if the row is not.
template <int kTogether>
__device__ Running share_of(const float* x, int64_t begin, int64_t end, int number) {
    Running mine = {-INFINITY, 0.0f};
    for (int64_t first = begin / 4 * 4 + 4 * number; first < end; first += 4 * kFours * kTogether) {
        float4 fours[kFours];
#pragma unroll
        for (int i = 0; i < kFours; ++i) fours[i] = bring(x, first + i * 4 * kTogether, begin, end);
        // One maximum for all 16 elements: what was summed before is rescaled once, not 16 times.
        float highest = mine.highest;
#pragma unroll
        for (int i = 0; i < kFours; ++i)
            highest = fmaxf(fmaxf(fmaxf(highest, fours[i].x), fmaxf(fours[i].y, fours[i].z)), fours[i].w);
        const float reference = reference_of(highest);
        float total = mine.total * expf(mine.highest - reference);
        // fmaxf drops NaN, but its exponential makes the total NaN; so does +inf, as inf - inf.
#pragma unroll
        for (int i = 0; i < kFours; ++i)
            total += (expf(fours[i].x - reference) + expf(fours[i].y - reference)) +
                     (expf(fours[i].z - reference) + expf(fours[i].w - reference));
        mine = {highest, total};
    }
    return mine;
}

__device__ Running merge_warp(Running mine) {
    for (int distance = 16; distance > 0; distance /= 2)
        mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.highest, distance),
                            __shfl_xor_sync(0xffffffffu, mine.total, distance)});
    return mine;
}

// No quotient of exponentials: it is 0 in float32 if the label is unlikely. A row of nothing but -inf: -inf - -inf.
__device__ float loss_of(Running row, float at_label) { return (row.highest - at_label) + logf(row.total); }

// One warp per row.
__global__ void __launch_bounds__(kThreads)
short_rows(const float* logits, const int64_t* labels, float* out, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    if (row >= rows) return;  // a whole warp leaves: no shuffle misses a lane
    const int lane = threadIdx.x % 32;
    const int64_t label = labels[row], begin = row * cols;  // 64 bits: rows * cols may exceed 2^31
    if (label == kIgnored) {
        if (lane == 0) out[row] = 0.0f;
        return;
    }
    const float at_label = logits[begin + label];
    const Running all = merge_warp(share_of<32>(logits, begin, begin + cols, lane));
    if (lane == 0) out[row] = loss_of(all, at_label);
}

// One block per row.
__global__ void __launch_bounds__(kThreads)
long_rows(const float* logits, const int64_t* labels, float* out, int64_t cols) {
    const int64_t row = blockIdx.x;
    const int64_t label = labels[row], begin = row * cols;
    if (label == kIgnored) {  // the same for the whole block: no barrier misses a thread
        if (threadIdx.x == 0) out[row] = 0.0f;
        return;
    }
    const float at_label = logits[begin + label];
    Running mine = merge_warp(share_of<kThreads>(logits, begin, begin + cols, threadIdx.x));
    __shared__ Running warps[kWarps];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    mine = merge_warp(threadIdx.x < kWarps ? warps[threadIdx.x] : Running{-INFINITY, 0.0f});
    if (threadIdx.x == 0) out[row] = loss_of(mine, at_label);
}

extern "C" void solve(const float* logits, const int64_t* labels, float* out, int64_t rows, int64_t cols) {
    if (rows == 0) return;  // a grid of 0 blocks is a launch error; rows without columns have results
    if (cols <= kShortRow)
        short_rows<<<static_cast<unsigned>((rows + kWarps - 1) / kWarps), kThreads>>>(logits, labels, out, rows, cols);
    else
        long_rows<<<static_cast<unsigned>(rows), kThreads>>>(logits, labels, out, cols);
}
