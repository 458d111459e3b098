// Heat in three dimensions: a block has a column of the grid, 32 rows by 64 columns with its halo, and goes through it
// plane by plane. It makes two steps on the way, so that two steps read and write memory once. A thread has 4 rows of
// two neighbouring columns in registers. Its neighbours above and below are in the same thread or, through shared
// memory, in another warp; those to the left and right are in the lanes next to it; those in the planes before and
// after are what it had and what it gets.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kWarps = 8;  // below each other
constexpr int kThreads = kWarps * 32;
constexpr int kRows = 4;  // rows of a thread
constexpr int kHalo = 2;  // as many as the steps of a launch: each makes a ring of the tile wrong
constexpr int kHigh = kWarps * kRows, kWide = 64;
constexpr int kTileRows = kHigh - 2 * kHalo, kTileColumns = kWide - 2 * kHalo;
constexpr unsigned kAllLanes = 0xffffffffu;
// Blocks that keep 132 multiprocessors busy, several waves of them; and the planes that a block then goes through.
constexpr int64_t kEnoughBlocks = 132 * 3 * 4;
constexpr int64_t kMostPlanes = 128, kFewestPlanes = 8;

struct Shape {
    int64_t depth, height, width;
};

// Rows of a warp that its neighbours need: the first and the last one of each plane that a thread has.
template <int kSteps>
using Edges = float2[2][kSteps][kWarps][2][32];

// kInner: no element of the tile or its halo is on a side of the grid (first and last planes are asked for anyway).
// kPairs: two neighbouring elements are one access.
template <int kSteps, bool kInner, bool kPairs>
__device__ __forceinline__ void march(const float* __restrict__ from, float* __restrict__ to, Shape shape, float keep,
                                      float alpha, int64_t row0, int64_t column0, int64_t first, int64_t last,
                                      Edges<kSteps>& edges) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t row = row0 + warp * kRows, column = column0 + 2 * lane;
    const int64_t area = shape.height * shape.width, place = row * shape.width + column;

    // A bit for each element of a plane: whether the grid has it, and whether it stays as it is. The latter are the
    // sides, and elements beyond them, which stay 0 and nobody needs.
    unsigned present = 0, fixed = 0;
    if (!kInner)
        for (int r = 0; r < kRows; ++r)
            for (int c = 0; c < 2; ++c) {
                const int64_t y = row + r, x = column + c;
                const bool has = y >= 0 && y < shape.height && x >= 0 && x < shape.width;
                const bool inner = y > 0 && y < shape.height - 1 && x > 0 && x < shape.width - 1;
                present |= static_cast<unsigned>(has) << (2 * r + c);
                fixed |= static_cast<unsigned>(!inner) << (2 * r + c);
            }
    const auto there = [&](int r, int c) { return kInner || (present >> (2 * r + c) & 1); };
    const auto stays = [&](int r, int c) { return !kInner && (fixed >> (2 * r + c) & 1); };

    const auto fetch = [&](int64_t plane, float2(&values)[kRows]) {
        const float* at = from + plane * area + place;
#pragma unroll
        for (int r = 0; r < kRows; ++r, at += shape.width) {
            if (kInner && kPairs) {
                values[r] = *reinterpret_cast<const float2*>(at);
            } else {
                values[r].x = there(r, 0) ? at[0] : 0.0f;
                values[r].y = there(r, 1) ? at[1] : 0.0f;
            }
        }
    };
    const auto store = [&](int64_t plane, const float2(&values)[kRows]) {
        float* at = to + plane * area + place;
#pragma unroll
        for (int r = 0; r < kRows; ++r, at += shape.width) {
            // The halo is another block's.
            const int tile_row = warp * kRows + r;
            if (tile_row < kHalo || tile_row >= kHigh - kHalo || lane == 0 || lane == 31) continue;
            if (kInner && kPairs) {
                *reinterpret_cast<float2*>(at) = values[r];
            } else {
                if (there(r, 0)) at[0] = values[r].x;
                if (there(r, 1)) at[1] = values[r].y;
            }
        }
    };

    // Of each step: the newest plane that it has seen, and that plane's next value without the plane after it.
    float2 newest[kSteps][kRows] = {}, partial[kSteps][kRows] = {};
    float2 coming[kRows];
    const int64_t begin = first > kSteps ? first - kSteps : 0, end = last + kSteps;
    fetch(begin, coming);
    int turn = 0;
    for (int64_t z = begin; z < end; ++z, turn ^= 1) {
        // planes[s]: plane z - s after s steps.
        float2 planes[kSteps + 1][kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) planes[0][r] = coming[r];
        // Under way while this plane is computed.
        if (z + 1 < end && z + 1 < shape.depth) fetch(z + 1, coming);
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
            const int64_t done = z - s - 1;
            const bool still = done == 0 || done == shape.depth - 1;
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                planes[s + 1][r].x = fmaf(alpha, planes[s][r].x, partial[s][r].x);
                planes[s + 1][r].y = fmaf(alpha, planes[s][r].y, partial[s][r].y);
                if (still || stays(r, 0)) planes[s + 1][r].x = newest[s][r].x;
                if (still || stays(r, 1)) planes[s + 1][r].y = newest[s][r].y;
            }
        }
        if (z - kSteps >= first) store(z - kSteps, planes[kSteps]);

        // Two sets of edges in turn, so that one barrier a plane is enough.
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
            edges[turn][s][warp][0][lane] = planes[s][0];
            edges[turn][s][warp][1][lane] = planes[s][kRows - 1];
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
            const float2 above = edges[turn][s][warp > 0 ? warp - 1 : 0][1][lane];
            const float2 below = edges[turn][s][warp < kWarps - 1 ? warp + 1 : warp][0][lane];
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                const float2 own = planes[s][r];
                const float2 up = r > 0 ? planes[s][r > 0 ? r - 1 : 0] : above;
                const float2 down = r < kRows - 1 ? planes[s][r < kRows - 1 ? r + 1 : r] : below;
                // Lane 0 and lane 31 get their own value: in the halo, where it does not matter.
                const float left = __shfl_up_sync(kAllLanes, own.y, 1);
                const float right = __shfl_down_sync(kAllLanes, own.x, 1);
                partial[s][r].x = fmaf(alpha, (up.x + down.x) + (left + own.y) + newest[s][r].x, keep * own.x);
                partial[s][r].y = fmaf(alpha, (up.y + down.y) + (own.x + right) + newest[s][r].y, keep * own.y);
                newest[s][r] = own;
            }
        }
    }
}

template <int kSteps, bool kPairs>
__global__ void __launch_bounds__(kThreads, 3)
    heat(const float* __restrict__ from, float* __restrict__ to, Shape shape, float keep, float alpha, unsigned across,
         unsigned down, int64_t planes) {
    __shared__ Edges<kSteps> edges;
    // Columns first, then rows: blocks that run together share their halos in the L2 cache.
    const int64_t column0 = static_cast<int64_t>(blockIdx.x % across) * kTileColumns - kHalo;
    const int64_t row0 = static_cast<int64_t>(blockIdx.x / across % down) * kTileRows - kHalo;
    const int64_t first = static_cast<int64_t>(blockIdx.x / across / down) * planes;
    const int64_t last = first + planes < shape.depth ? first + planes : shape.depth;
    // The same for the whole block, so that all of its threads come to the same barriers.
    if (row0 >= 1 && row0 + kHigh < shape.height && column0 >= 1 && column0 + kWide < shape.width)
        march<kSteps, true, kPairs>(from, to, shape, keep, alpha, row0, column0, first, last, edges);
    else
        march<kSteps, false, kPairs>(from, to, shape, keep, alpha, row0, column0, first, last, edges);
}

template <int kSteps>
void launch(const float* from, float* to, Shape shape, float alpha) {
    const int64_t across = (shape.width + kTileColumns - 1) / kTileColumns;
    const int64_t down = (shape.height + kTileRows - 1) / kTileRows;
    int64_t planes = kMostPlanes;
    const auto blocks = [&] { return across * down * ((shape.depth + planes - 1) / planes); };
    while (planes > kFewestPlanes && blocks() < kEnoughBlocks) planes /= 2;
    const auto address = reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to);
    const bool pairs = shape.width % 2 == 0 && address % sizeof(float2) == 0;
    const auto kernel = pairs ? heat<kSteps, true> : heat<kSteps, false>;
    kernel<<<static_cast<unsigned>(blocks()), kThreads>>>(from, to, shape, 1.0f - 6.0f * alpha, alpha,
                                                          static_cast<unsigned>(across), static_cast<unsigned>(down),
                                                          planes);
}

extern "C" void solve(const float* grid, float* out, float* scratch, float alpha, int32_t steps, int64_t depth,
                      int64_t height, int64_t width) {
    const int64_t count = depth * height * width;
    if (count == 0) return;  // a grid of 0 blocks is a launch error
    if (steps <= 0) {
        cudaMemcpyAsync(out, grid, count * sizeof(float), cudaMemcpyDeviceToDevice);
        return;
    }
    const Shape shape{depth, height, width};
    const float* from = grid;
    // An odd step comes first and alone. Results go to scratch and out in turn, so that the last are in out.
    for (int32_t left = steps / 2 + steps % 2; left > 0; --left) {
        float* to = left % 2 ? out : scratch;
        if (from == grid && steps % 2)
            launch<1>(from, to, shape, alpha);
        else
            launch<2>(from, to, shape, alpha);
        from = to;
    }
}
