// Inclusive prefix sum in a single pass: each block scans its tile, publishes its sum, and looks back for what stands
// ahead of it ("decoupled look-back"). Everything is read once and written once.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kVectors = 8;                   // float4s of each thread
constexpr int kWarpTile = 32 * 4 * kVectors;  // 1024 elements, next to each other in memory
constexpr int kTile = kWarps * kWarpTile;     // 8192: tiles so large that few others have to be looked at

// What a tile has told of itself so far, in one word: the kind in the upper half, the bits of a sum in the lower.
// One 64-bit access writes or reads both, so nobody sees the one without the other, and no fence is needed.
using Notice = unsigned long long;
constexpr unsigned kNothing = 0;   // what cudaMemsetAsync leaves
constexpr unsigned kOwnSum = 1;    // the sum of this tile
constexpr unsigned kSumSoFar = 2;  // the sum of this tile and all ahead of it

struct Board {
    unsigned long long started;  // tiles taken so far
    Notice notices[1];           // one for each tile; the array goes on behind the struct
};

__device__ void publish(volatile Notice* notice, unsigned kind, float sum) {
    *notice = static_cast<Notice>(kind) << 32 | __float_as_uint(sum);
}

// What `value` sums up to over this lane and those below it.
__device__ float scan_warp(float value) {
    const int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        const float below = __shfl_up_sync(kAll, value, step);
        if (lane >= step) value += below;
    }
    return value;
}

// The value one lane below; 0 in lane 0. This makes an exclusive sum of an inclusive one. Subtracting one's own
// value would not do: inf - inf is NaN.
__device__ float from_below(float value) {
    const float below = __shfl_up_sync(kAll, value, 1);
    return threadIdx.x % 32 == 0 ? 0.0f : below;
}

// How far one glance goes: this many times 32 tiles. The sum so far travels by one glance at a time, each of which takes
// as long as memory does to answer; so a glance of 32 tiles would hold up the whole scan.
constexpr int kGlance = 4;

// The sum of all tiles ahead of `tile`. Called by one whole warp: lane 0 looks at the tile just ahead, lane 1 at the
// one ahead of that, and so on; then each at the tile 32 further ahead.
__device__ float look_back(volatile Notice* notices, int64_t tile) {
    float sum = 0.0f;
    for (int64_t nearest = tile - 1; nearest >= 0; nearest -= 32 * kGlance) {
        Notice seen[kGlance];
#pragma unroll
        for (int g = 0; g < kGlance; ++g) {  // all under way before any is looked at
            const int64_t mine = nearest - 32 * g - threadIdx.x;
            // Ahead of tile 0 there is nothing: a sum so far of 0.
            seen[g] = mine >= 0 ? notices[mine] : static_cast<Notice>(kSumSoFar) << 32;
        }
#pragma unroll
        for (int g = 0; g < kGlance; ++g) {
            const int64_t mine = nearest - 32 * g - threadIdx.x;
            unsigned complete;
            for (;;) {
                complete = __ballot_sync(kAll, seen[g] >> 32 == kSumSoFar);
                // Lanes beyond the nearest sum so far need not be waited for: it includes them.
                const bool needed = (complete & ((1u << threadIdx.x) - 1)) == 0;
                if (!__any_sync(kAll, needed && seen[g] >> 32 == kNothing)) break;
                // Those ahead have started before us (see the counter), so they go on, and this ends.
                if (mine >= 0) seen[g] = notices[mine];
            }
            const bool counts = (complete & ((1u << threadIdx.x) - 1)) == 0;  // up to the nearest sum so far
            float part = counts ? __uint_as_float(static_cast<unsigned>(seen[g])) : 0.0f;
            for (int step = 16; step > 0; step /= 2) part += __shfl_xor_sync(kAll, part, step);
            sum += part;
            if (complete != 0) return sum;
        }
    }
    return sum;
}

__global__ void __launch_bounds__(kThreads) scan(const float* x, float* out, Board* board, int64_t n) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    // Tiles are taken in the order in which blocks start, which need not be that of blockIdx: every tile ahead of
    // ours belongs to a block that is running or has ended, so waiting for it cannot last for ever.
    __shared__ int64_t taken;
    if (threadIdx.x == 0) taken = static_cast<int64_t>(atomicAdd(&board->started, 1ull));
    __syncthreads();
    const int64_t tile = taken;

    // Each warp has 1024 elements next to each other; in vector v, lane l holds elements 128 v + 4 l to + 3, so that
    // a warp reads 512 bytes at once.
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

    // Scan within each thread's four, then across the lanes, then along the vectors.
    float ahead[kVectors];  // what stands ahead of this lane's four, within the warp's elements
    float warp_sum = 0.0f;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        own[v].y += own[v].x;
        own[v].z += own[v].y;
        own[v].w += own[v].z;
        const float up_to_here = scan_warp(own[v].w);
        ahead[v] = warp_sum + from_below(up_to_here);
        warp_sum += __shfl_sync(kAll, up_to_here, 31);
    }

    __shared__ float warp_sums[kWarps];
    __shared__ float ahead_of_tile;
    if (lane == 0) warp_sums[warp] = warp_sum;
    __syncthreads();

    float ahead_of_warp = 0.0f;
    float tile_sum = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) ahead_of_warp = tile_sum;
        tile_sum += warp_sums[w];
    }

    if (warp == 0) {
        if (lane == 0 && tile > 0) publish(&board->notices[tile], kOwnSum, tile_sum);
        const float before = look_back(board->notices, tile);
        if (lane == 0) {
            publish(&board->notices[tile], kSumSoFar, before + tile_sum);
            ahead_of_tile = before;
        }
    }
    __syncthreads();

    const float before = ahead_of_tile + ahead_of_warp;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        const int64_t i = first + v * 128;
        const float base = before + ahead[v];
        const float4 sums = make_float4(base + own[v].x, base + own[v].y, base + own[v].z, base + own[v].w);
        if (whole || i + 4 <= n) {
            *reinterpret_cast<float4*>(out + i) = sums;
        } else {
            if (i < n) out[i] = sums.x;
            if (i + 1 < n) out[i + 1] = sums.y;
            if (i + 2 < n) out[i + 2] = sums.z;
        }
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;  // a grid of 0 blocks is a launch error
    const int64_t tiles = (n + kTile - 1) / kTile;
    const size_t bytes = sizeof(Board) + tiles * sizeof(Notice);
    Board* board = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&board), bytes, 0) != cudaSuccess) return;
    cudaMemsetAsync(board, 0, bytes, 0);  // no tile taken, no notice given
    scan<<<static_cast<unsigned>(tiles), kThreads>>>(x, out, board, n);
    cudaFreeAsync(board, 0);
}
