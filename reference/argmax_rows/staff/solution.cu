// Argmax by rows: each row goes to a warp or to one or more blocks; candidates meet by warp shuffles.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int64_t kShortRow = 1024;      // up to here a warp is enough for a row, and a block takes eight rows
constexpr int64_t kEnoughBlocks = 8192;  // some eight times what a large GPU runs at once: the last ones end together
constexpr int64_t kLeastPart = 16384;    // a row is divided into parts no smaller than this
constexpr int64_t kMostParts = 1024;

// The largest value seen so far, and the first place where it stands.
struct Best {
    float value;
    int64_t place;
};

// Begins at -inf and place 0. That is no lie that could win: where the maximum is larger, this loses; where it is
// -inf, every element is -inf, and the first one stands at place 0.
__device__ Best nothing() { return {-INFINITY, 0}; }

// Whether `value` replaces `best`: larger, or NaN where there was none. An equal one does not.
__device__ bool beats(float value, float best) { return !(value <= best) && best == best; }

// Takes an element that stands after all that `best` has seen: a tie stays with the earlier one.
__device__ void look(Best& best, float value, int64_t place) {
    if (beats(value, best.value)) best = {value, place};
}

// The better of two candidates, in any order: of equal ones (or two NaN) the one that stands first.
__device__ Best better(Best a, Best b) {
    if (beats(b.value, a.value)) return b;
    if (beats(a.value, b.value)) return a;
    return a.place <= b.place ? a : b;
}

// All lanes' candidates become one, in lane 0: 32, 16, 8, 4, 2, 1.
__device__ Best best_of_warp(Best mine) {
    for (int step = 16; step > 0; step /= 2) {
        const float value = __shfl_down_sync(0xffffffffu, mine.value, step);
        const int64_t place = __shfl_down_sync(0xffffffffu, static_cast<long long>(mine.place), step);
        mine = better(mine, {value, place});
    }
    return mine;
}

// Walks through row[begin, end) in steps of all `threads`; this is thread `number` of them.
__device__ Best best_of_share(const float* row, int64_t begin, int64_t end, int number, int threads) {
    Best best = nothing();
    // A row begins wherever the one before ended: up to three elements stand ahead of the first 16-byte boundary.
    const int64_t ahead = (4 - reinterpret_cast<uintptr_t>(row + begin) / sizeof(float) % 4) % 4;
    const int64_t body = begin + ahead < end ? begin + ahead : end;
    for (int64_t i = begin + number; i < body; i += threads) look(best, row[i], i);

    const float4* fours = reinterpret_cast<const float4*>(row + body);
    const int64_t count = (end - body) / 4;
    // Unrolled, so that four loads of 16 bytes are under way before the first one is looked at.
#pragma unroll 4
    for (int64_t i = number; i < count; i += threads) {
        const float4 four = fours[i];
        const int64_t place = body + 4 * i;
        look(best, four.x, place);
        look(best, four.y, place + 1);
        look(best, four.z, place + 2);
        look(best, four.w, place + 3);
    }

    for (int64_t i = body + 4 * count + number; i < end; i += threads) look(best, row[i], i);
    return best;
}

// One warp per row.
__global__ void short_rows(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    if (row >= rows) return;  // a whole warp leaves: nobody of it is missing in the shuffles
    const int lane = threadIdx.x % 32;
    const Best best = best_of_warp(best_of_share(x + row * cols, 0, cols, lane, 32));
    if (lane == 0) out[row] = best.place;
}

// One block per part of a row. The best of each goes to parts[row, part], or to out where a row is one part.
__global__ void long_rows(const float* x, int64_t* out, Best* parts, int64_t cols, int64_t part_cols) {
    const int64_t row = blockIdx.x;
    const int64_t begin = blockIdx.y * part_cols;
    const int64_t end = begin + part_cols < cols ? begin + part_cols : cols;
    Best best = best_of_warp(best_of_share(x + row * cols, begin, end, threadIdx.x, kThreads));

    __shared__ Best warps[kWarps];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    best = best_of_warp(threadIdx.x < kWarps ? warps[threadIdx.x] : nothing());
    if (threadIdx.x != 0) return;
    if (parts == nullptr)
        out[row] = best.place;
    else
        parts[row * gridDim.y + blockIdx.y] = best;
}

// One warp per row chooses among its parts.
__global__ void among_parts(const Best* parts, int64_t* out, int count) {
    const int64_t row = blockIdx.x;
    Best best = nothing();
    for (int i = threadIdx.x; i < count; i += 32) best = better(best, parts[row * count + i]);
    best = best_of_warp(best);
    if (threadIdx.x == 0) out[row] = best.place;
}

extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows == 0) return;  // a grid of 0 blocks is a launch error
    const unsigned blocks = static_cast<unsigned>(rows);
    if (cols <= kShortRow) {
        short_rows<<<static_cast<unsigned>((rows + kWarps - 1) / kWarps), kThreads>>>(x, out, rows, cols);
        return;
    }
    // Many rows fill the GPU with a block each; a few long ones are divided until there are blocks enough.
    int64_t parts = kEnoughBlocks / rows;
    if (parts > cols / kLeastPart) parts = cols / kLeastPart;
    if (parts > kMostParts) parts = kMostParts;
    if (parts <= 1) {
        long_rows<<<blocks, kThreads>>>(x, out, nullptr, cols, cols);
        return;
    }
    // Rounded up, so that the parts cover the row; then no more parts than it takes, so that none is empty.
    const int64_t part_cols = (cols + parts - 1) / parts;
    parts = (cols + part_cols - 1) / part_cols;
    Best* found = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&found), rows * parts * sizeof(Best), 0) != cudaSuccess) return;
    long_rows<<<dim3(blocks, static_cast<unsigned>(parts)), kThreads>>>(x, out, found, cols, part_cols);
    among_parts<<<blocks, 32>>>(found, out, static_cast<int>(parts));
    cudaFreeAsync(found, 0);
}
