// Embedding, backward: tokens are sorted by index with integer atomics, then each row of out is added up in registers
// and written once. Gradients are read once, and out is never read. A row with very many tokens is shared by blocks.
#include <cstdint>
#include <cuda_runtime.h>

using Count = unsigned long long;  // the 64-bit type that atomicAdd takes

constexpr int kThreads = 256;
constexpr int kMostRowThreads = 128;
constexpr int kFlight = 8;       // tokens whose gradients a thread has under way at once
constexpr int64_t kShare = 256;  // a row with more tokens is shared: a piece has as many
constexpr int64_t kPieceBlocks = 2048;

// A part of the tokens of a row with many.
struct Piece {
    int64_t row, first, end;  // places in the order
};

// What the launches hand on.
struct Work {
    Count* placed;   // tokens that have a place so far
    Count* pieces;   // pieces in the list
    Count* counts;   // tokens of each row
    Count* ends;     // first the place of a row's next token, in the end the place behind its last
    int64_t* order;  // tokens, those of a row next to each other
    Piece* list;
};

__global__ void __launch_bounds__(kThreads)
count_tokens(const int64_t* indices, Work work, int64_t padding, int64_t tokens) {
    const int64_t token = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (token < tokens && indices[token] != padding) atomicAdd(&work.counts[indices[token]], Count{1});
}

// Gives each row its places. The rows need no order among themselves: a warp takes as many places as its rows need.
__global__ void __launch_bounds__(kThreads) place_rows(Work work, int64_t vocab) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const Count count = row < vocab ? work.counts[row] : 0;
    Count upto = count;
    for (int distance = 1; distance < 32; distance *= 2) {
        const Count before = __shfl_up_sync(~0u, upto, distance);
        if (lane >= distance) upto += before;
    }
    Count first = 0;
    if (lane == 31) first = atomicAdd(work.placed, upto);
    first = __shfl_sync(~0u, first, 31) + upto - count;
    if (row >= vocab) return;
    work.ends[row] = first;
    if (count <= kShare) return;
    const Count pieces = (count + kShare - 1) / kShare, at = atomicAdd(work.pieces, pieces);
    for (Count piece = 0; piece < pieces; ++piece) {
        const int64_t begin = static_cast<int64_t>(first + piece * kShare), end = static_cast<int64_t>(first + count);
        work.list[at + piece] = {row, begin, min(begin + kShare, end)};
    }
}

__global__ void __launch_bounds__(kThreads)
place_tokens(const int64_t* indices, Work work, int64_t padding, int64_t tokens) {
    const int64_t token = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (token < tokens && indices[token] != padding)
        work.order[atomicAdd(&work.ends[indices[token]], Count{1})] = token;
}

// Where a thread's four columns are: neighbours that one load brings, or, if rows do not begin at multiples of 16 bytes,
// columns that the whole block's width separates, so that neighbouring threads load neighbours.
template <bool kQuads>
struct Columns {
    int64_t first;

    __device__ explicit Columns(int64_t tile)
        : first(kQuads ? (tile * blockDim.x + threadIdx.x) * 4 : tile * blockDim.x * 4 + threadIdx.x) {}

    __device__ int64_t operator[](int i) const { return first + (kQuads ? i : i * static_cast<int64_t>(blockDim.x)); }

    __device__ float4 bring(const float* row, int64_t dim) const {
        if constexpr (kQuads) return first < dim ? *reinterpret_cast<const float4*>(row + first) : float4{};
        const Columns& at = *this;
        return make_float4(at[0] < dim ? row[at[0]] : 0.0f, at[1] < dim ? row[at[1]] : 0.0f,
                           at[2] < dim ? row[at[2]] : 0.0f, at[3] < dim ? row[at[3]] : 0.0f);
    }
};

__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

// The sums of four columns over the tokens at the places [first, end) of the order.
template <bool kQuads>
__device__ float4 sum_of(const float* grad, const int64_t* order, int64_t first, int64_t end, int64_t dim,
                         Columns<kQuads> columns) {
    float4 sum{};
    for (; first < end; first += kFlight) {
        float4 values[kFlight];  // all loads are under way before the first is waited for
#pragma unroll
        for (int i = 0; i < kFlight; ++i)
            values[i] = first + i < end ? columns.bring(grad + order[first + i] * dim, dim) : float4{};
#pragma unroll
        for (int i = 0; i < kFlight; ++i) sum = sum + values[i];
    }
    return sum;
}

// A block has a row, or a tile of its columns. Each element of out is written once, those of rows without tokens too.
template <bool kQuads>
__global__ void __launch_bounds__(kMostRowThreads)
sum_rows(const float* grad, Work work, float* out, int64_t dim, int64_t tiles) {
    const int64_t row = blockIdx.x / tiles;
    const int64_t count = static_cast<int64_t>(work.counts[row]), end = static_cast<int64_t>(work.ends[row]);
    const Columns<kQuads> columns(blockIdx.x % tiles);
    // A row that blocks share begins at 0; the next launch adds to it.
    const float4 sum = sum_of(grad, work.order, count > kShare ? end : end - count, end, dim, columns);
    float* to = out + row * dim;
    if constexpr (kQuads) {
        if (columns[0] < dim) *reinterpret_cast<float4*>(to + columns[0]) = sum;
    } else {
        if (columns[0] < dim) to[columns[0]] = sum.x;
        if (columns[1] < dim) to[columns[1]] = sum.y;
        if (columns[2] < dim) to[columns[2]] = sum.z;
        if (columns[3] < dim) to[columns[3]] = sum.w;
    }
}

template <bool kQuads>
__global__ void __launch_bounds__(kMostRowThreads)
add_pieces(const float* grad, Work work, float* out, int64_t dim, int64_t tiles) {
    const int64_t shares = static_cast<int64_t>(*work.pieces) * tiles;
    for (int64_t i = blockIdx.x; i < shares; i += gridDim.x) {
        const Piece piece = work.list[i / tiles];
        const Columns<kQuads> columns(i % tiles);
        const float4 sum = sum_of(grad, work.order, piece.first, piece.end, dim, columns);
        float* to = out + piece.row * dim;
        if (columns[0] < dim) atomicAdd(to + columns[0], sum.x);
        if (columns[1] < dim) atomicAdd(to + columns[1], sum.y);
        if (columns[2] < dim) atomicAdd(to + columns[2], sum.z);
        if (columns[3] < dim) atomicAdd(to + columns[3], sum.w);
    }
}

template <bool kQuads>
void launch_rows(const float* grad, const Work& work, float* out, int64_t dim, int64_t vocab, int64_t most_pieces) {
    // The fours of a row are divided evenly among as few blocks as possible.
    const int64_t fours = (dim + 3) / 4, tiles = (fours + kMostRowThreads - 1) / kMostRowThreads;
    const int threads = static_cast<int>((fours + tiles * 32 - 1) / (tiles * 32) * 32);
    sum_rows<kQuads><<<static_cast<unsigned>(vocab * tiles), threads>>>(grad, work, out, dim, tiles);
    const int64_t shares = most_pieces * tiles;
    if (shares)
        add_pieces<kQuads><<<static_cast<unsigned>(shares < kPieceBlocks ? shares : kPieceBlocks), threads>>>(
            grad, work, out, dim, tiles);
}

extern "C" void solve(const float* grad, const int64_t* indices, float* out, int64_t padding, int64_t tokens,
                      int64_t dim, int64_t vocab) {
    if (dim == 0 || vocab == 0) return;  // out has no element
    if (tokens == 0) {
        cudaMemsetAsync(out, 0, vocab * dim * sizeof(float), 0);
        return;
    }
    // Each row in the list has more than kShare tokens, so its pieces are at most twice its tokens / kShare.
    const int64_t most_pieces = 2 * (tokens / kShare);
    const int64_t words = 2 + 2 * vocab + tokens;
    char* memory = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&memory), words * sizeof(Count) + most_pieces * sizeof(Piece), 0) !=
        cudaSuccess)
        return;
    Work work;
    work.placed = reinterpret_cast<Count*>(memory);
    work.pieces = work.placed + 1;
    work.counts = work.placed + 2;
    work.ends = work.counts + vocab;
    work.order = reinterpret_cast<int64_t*>(work.ends + vocab);
    work.list = reinterpret_cast<Piece*>(work.order + tokens);
    cudaMemsetAsync(memory, 0, (2 + vocab) * sizeof(Count), 0);
    const unsigned token_blocks = static_cast<unsigned>((tokens + kThreads - 1) / kThreads);
    count_tokens<<<token_blocks, kThreads>>>(indices, work, padding, tokens);
    place_rows<<<static_cast<unsigned>((vocab + kThreads - 1) / kThreads), kThreads>>>(work, vocab);
    place_tokens<<<token_blocks, kThreads>>>(indices, work, padding, tokens);
    if (dim % 4 == 0)
        launch_rows<true>(grad, work, out, dim, vocab, most_pieces);
    else
        launch_rows<false>(grad, work, out, dim, vocab, most_pieces);
    cudaFreeAsync(memory, 0);
}
