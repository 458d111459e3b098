// Stream compaction in a single pass: each block counts what its tile keeps, gathers it in shared memory, looks back for
// how much is kept ahead of it ("decoupled look-back"), and writes side by side.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kVectors = 8;                   // float4s of each thread
constexpr int kWarpTile = 32 * 4 * kVectors;  // 1024 elements, next to each other in memory
constexpr int kTile = kWarps * kWarpTile;     // 8192 elements, 32 KiB of shared memory where all are kept

// What a tile has told of itself so far, in one word: the kind in the two highest bits, a number of elements below.
// One 64-bit access writes or reads both, so nobody sees the one without the other, and no fence is needed.
using Notice = unsigned long long;
constexpr Notice kNothing = 0;  // what cudaMemsetAsync leaves
constexpr Notice kOwn = 1;      // elements kept of this tile
constexpr Notice kSoFar = 2;    // elements kept of this tile and all ahead of it
constexpr int kKindShift = 62;

struct Board {
    unsigned long long started;  // tiles taken so far
    Notice notices[1];           // one for each tile; the array goes on behind the struct
};

__device__ Notice kind(Notice notice) { return notice >> kKindShift; }
__device__ int64_t number(Notice notice) { return notice & ((1ull << kKindShift) - 1); }
__device__ void publish(volatile Notice* notice, Notice kind, int64_t number) {
    *notice = kind << kKindShift | static_cast<Notice>(number);
}

// What `value` sums up to over this lane and those below it.
__device__ int scan_warp(int value) {
    const int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        const int below = __shfl_up_sync(kAll, value, step);
        if (lane >= step) value += below;
    }
    return value;
}

// How far one glance goes: this many times 32 tiles. The number so far travels by one glance at a time, each of which
// takes as long as memory does to answer; so a glance of 32 tiles would hold up everything.
constexpr int kGlance = 4;

// How many elements the tiles ahead of `tile` keep. Called by one whole warp: lane 0 looks at the tile just ahead, lane 1
// at the one ahead of that, and so on; then each at the tile 32 further ahead.
__device__ int64_t look_back(volatile Notice* notices, int64_t tile) {
    const unsigned nearer = (1u << threadIdx.x) - 1;  // lanes that look at tiles nearer than this one's
    int64_t sum = 0;
    for (int64_t nearest = tile - 1; nearest >= 0; nearest -= 32 * kGlance) {
        Notice seen[kGlance];
#pragma unroll
        for (int g = 0; g < kGlance; ++g) {  // all under way before any is looked at
            const int64_t mine = nearest - 32 * g - threadIdx.x;
            seen[g] = mine >= 0 ? notices[mine] : kSoFar << kKindShift;  // ahead of tile 0: 0 elements so far
        }
#pragma unroll
        for (int g = 0; g < kGlance; ++g) {
            const int64_t mine = nearest - 32 * g - threadIdx.x;
            unsigned complete;
            for (;;) {
                complete = __ballot_sync(kAll, kind(seen[g]) == kSoFar);
                // Tiles beyond the nearest number so far need not be waited for: it includes them.
                if (!__any_sync(kAll, kind(seen[g]) == kNothing && (complete & nearer) == 0)) break;
                // Those ahead have started before us (see the counter), so they go on, and this ends.
                if (mine >= 0) seen[g] = notices[mine];
            }
            long long part = (complete & nearer) == 0 ? number(seen[g]) : 0;
            for (int step = 16; step > 0; step /= 2) part += __shfl_xor_sync(kAll, part, step);
            sum += part;
            if (complete != 0) return sum;
        }
    }
    return sum;
}

__global__ void __launch_bounds__(kThreads, 4)  // four blocks to a multiprocessor: enough loads under way
    compact(const float* x, float* out, int64_t* count, Board* board, int64_t n, int64_t tiles) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    // Tiles are taken in the order in which blocks start, which need not be that of blockIdx: every tile ahead of
    // ours belongs to a block that is running or has ended, so waiting for it cannot last for ever.
    __shared__ int64_t taken;
    if (threadIdx.x == 0) taken = static_cast<int64_t>(atomicAdd(&board->started, 1ull));
    __syncthreads();
    const int64_t tile = taken;

    // Each warp has 1024 elements next to each other; in vector v, lane l holds elements 128 v + 4 l to + 3, so that
    // a warp reads 512 bytes at once. Places beyond the array are filled with 0, which is not kept.
    const int64_t first = tile * kTile + warp * kWarpTile + lane * 4;
    const bool whole = (tile + 1) * kTile <= n;
    float4 own[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        const int64_t i = first + v * 128;
        if (whole || i + 4 <= n) {
            own[v] = *reinterpret_cast<const float4*>(x + i);
        } else {
            own[v].x = i < n ? x[i] : 0.0f;
            own[v].y = i + 1 < n ? x[i + 1] : 0.0f;
            own[v].z = i + 2 < n ? x[i + 2] : 0.0f;
            own[v].w = 0.0f;
        }
    }

    // Where this lane's elements of each vector begin among those that the warp keeps.
    int begins[kVectors];
    int warp_keeps = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        const int keeps = (own[v].x > 0) + (own[v].y > 0) + (own[v].z > 0) + (own[v].w > 0);
        const int up_to_here = scan_warp(keeps);
        begins[v] = warp_keeps + up_to_here - keeps;
        warp_keeps += __shfl_sync(kAll, up_to_here, 31);
    }

    __shared__ int warps_keep[kWarps];
    if (lane == 0) warps_keep[warp] = warp_keeps;
    __syncthreads();
    int ahead_of_warp = 0;
    int tile_keeps = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) ahead_of_warp = tile_keeps;
        tile_keeps += warps_keep[w];
    }
    // As early as can be: others wait for it.
    if (threadIdx.x == 0 && tile > 0) publish(&board->notices[tile], kOwn, tile_keeps);

    // Close the gaps in shared memory, where scattered writes cost little.
    __shared__ float kept[kTile];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        int place = ahead_of_warp + begins[v];
        if (own[v].x > 0) kept[place++] = own[v].x;
        if (own[v].y > 0) kept[place++] = own[v].y;
        if (own[v].z > 0) kept[place++] = own[v].z;
        if (own[v].w > 0) kept[place++] = own[v].w;
    }

    __shared__ int64_t ahead_of_tile;
    if (warp == 0) {
        const int64_t ahead = look_back(board->notices, tile);
        if (lane == 0) {
            publish(&board->notices[tile], kSoFar, ahead + tile_keeps);
            ahead_of_tile = ahead;
            if (tile == tiles - 1) *count = ahead + tile_keeps;
        }
    }
    __syncthreads();  // for both: what was gathered, and where it goes

    float* target = out + ahead_of_tile;
    for (int i = threadIdx.x; i < tile_keeps; i += kThreads) target[i] = kept[i];
}

extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int64_t), 0);  // nothing to look at, but the answer is 0
        return;
    }
    const int64_t tiles = (n + kTile - 1) / kTile;
    const size_t bytes = sizeof(Board) + tiles * sizeof(Notice);
    Board* board = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&board), bytes, 0) != cudaSuccess) return;
    cudaMemsetAsync(board, 0, bytes, 0);  // no tile taken, no notice given
    compact<<<static_cast<unsigned>(tiles), kThreads>>>(x, out, count, board, n, tiles);
    cudaFreeAsync(board, 0);
}
