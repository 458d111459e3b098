// Halo exchange between two GPUs: a launch makes four steps, so that four steps read and write memory once, and reads four
// rows of the other GPU. Events order the launches of the two. A warp has 128 columns and goes down its rows: what it needs
// of earlier rows is in registers, the neighbours to the left and right are in the lanes next to it.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kMostSteps = 4;  // of a launch
constexpr int kWarps = 4, kThreads = kWarps * 32;
constexpr int kColumns = 4;  // of a thread, 32 apart, because rows may begin anywhere
constexpr int kWide = kColumns * 32;
constexpr int kAhead = 4;  // rows that are under way
constexpr unsigned kAllLanes = 0xffffffffu;
// Warps that keep 132 multiprocessors busy, several waves of them; and the rows that a warp then goes through.
constexpr int64_t kEnoughWarps = 132 * 16 * 4;
constexpr int64_t kMostRows = 128, kFewestRows = 16;

struct Grid {
    const float* halves[2];  // of GPU 0 and GPU 1, one below the other
    int64_t height;          // of a half
    int64_t width;
};

// first, last: the rows of the whole grid that the warp writes; to: where row `first` goes.
// kInner: no element that the warp reads is on the border or beyond it.
template <int kSteps, bool kInner>
__device__ __forceinline__ void march(const Grid& grid, float* to, int64_t column0, int64_t first, int64_t last) {
    const int lane = threadIdx.x % 32;
    const int64_t rows = 2 * grid.height, column = column0 + lane;

    // A bit for each of the thread's columns: whether the grid has it, whether it stays as it is (the border, and what is
    // beyond, which stays 0 and nobody needs), and whether it is this warp's to write. A ring around the tile is wrong after
    // each step, because its neighbours are missing.
    unsigned present = 0, fixed = 0, written = 0;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
        const int64_t c = column + 32 * j;
        const int place = lane + 32 * j;
        present |= static_cast<unsigned>(c >= 0 && c < grid.width) << j;
        fixed |= static_cast<unsigned>(c <= 0 || c >= grid.width - 1) << j;
        written |= static_cast<unsigned>(place >= kSteps && place < kWide - kSteps && c < grid.width) << j;
    }
    const auto stays = [&](int j) { return !kInner && (fixed >> j & 1); };

    // Rows are counted from `begin` on, through the cut between the halves.
    const int64_t begin = first > kSteps ? first - kSteps : 0;
    const int end = static_cast<int>(last + kSteps - begin), skipped = static_cast<int>(first - begin);
    const auto counted = [&](int64_t row) {
        return row < begin ? -1 : row - begin < end ? static_cast<int>(row - begin) : end;
    };
    const int cut = counted(grid.height), bottom = counted(rows - 1);
    const float* from = begin < grid.height ? grid.halves[0] + begin * grid.width
                                            : grid.halves[1] + (begin - grid.height) * grid.width;
    from += column;
    int next = 0;
    const auto fetch = [&](float(&values)[kColumns]) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
            values[j] = kInner || (next <= bottom && (present >> j & 1)) ? from[32 * j] : 0.0f;
        from += grid.width;
        if (++next == cut) from = grid.halves[1] + column;
    };

    // Of each step: the newest row that it has seen, and the sum of that row's neighbours without those below.
    float newest[kSteps][kColumns] = {}, partial[kSteps][kColumns] = {};
    float coming[kAhead][kColumns];
    float* at = to + column;
#pragma unroll
    for (int r = 0; r < kAhead; ++r) fetch(coming[r]);
    for (int z0 = 0; z0 < end; z0 += kAhead) {
#pragma unroll
        for (int r = 0; r < kAhead; ++r) {
            const int z = z0 + r;
            // row[s]: row z - s after s steps.
            float row[kSteps + 1][kColumns];
#pragma unroll
            for (int j = 0; j < kColumns; ++j) row[0][j] = coming[r][j];
            if (next < end) fetch(coming[r]);
#pragma unroll
            for (int s = 0; s < kSteps; ++s) {
                const int done = z - s - 1;
                const bool still = !kInner && ((done == 0 && begin == 0) || done == bottom);
#pragma unroll
                for (int j = 0; j < kColumns; ++j) {
                    const float mean = 0.25f * (partial[s][j] + row[s][j]);
                    row[s + 1][j] = still || stays(j) ? newest[s][j] : mean;
                }
            }
            if (z >= skipped + kSteps && z < end) {
#pragma unroll
                for (int j = 0; j < kColumns; ++j)
                    if (written >> j & 1) at[32 * j] = row[kSteps][j];
                at += grid.width;
            }
#pragma unroll
            for (int s = 0; s < kSteps; ++s)
#pragma unroll
                for (int j = 0; j < kColumns; ++j) {
                    // Lane 0 has its left neighbour in lane 31, 32 columns before; lane 31 its right one in lane 0, 32 after.
                    const float own = row[s][j];
                    const float before = j > 0 ? row[s][j > 0 ? j - 1 : 0] : own;
                    const float after = j < kColumns - 1 ? row[s][j < kColumns - 1 ? j + 1 : j] : own;
                    const float left = __shfl_sync(kAllLanes, lane == 31 ? before : own, (lane + 31) % 32);
                    const float right = __shfl_sync(kAllLanes, lane == 0 ? after : own, (lane + 1) % 32);
                    partial[s][j] = left + right + newest[s][j];
                    newest[s][j] = own;
                }
        }
    }
}

template <int kSteps>
__global__ void __launch_bounds__(kThreads, 4)
    sweep(Grid grid, float* __restrict__ out, int gpu, unsigned across, unsigned pieces, int64_t rows) {
    const int64_t warp = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    const int64_t column0 = warp % across * (kWide - 2 * kSteps) - kSteps;
    int64_t piece = warp / across;
    if (piece >= pieces) return;
    // The rows at the cut come first: they wait for the other GPU's.
    if (gpu == 0) piece = pieces - 1 - piece;
    const int64_t first = piece * rows, last = first + rows < grid.height ? first + rows : grid.height;
    const int64_t above = gpu * grid.height;
    float* to = out + first * grid.width;
    // The same for the whole warp, whose lanes exchange registers.
    const bool inner_rows = above + first > kSteps && above + last + kSteps + kAhead <= 2 * grid.height;
    if (inner_rows && column0 >= 1 && column0 + kWide < grid.width)
        march<kSteps, true>(grid, to, column0, above + first, above + last);
    else
        march<kSteps, false>(grid, to, column0, above + first, above + last);
}

template <int kSteps>
void launch(Grid grid, float* out, int gpu) {
    const int64_t own = kWide - 2 * kSteps, across = (grid.width + own - 1) / own;
    int64_t rows = kMostRows;
    const auto pieces = [&] { return (grid.height + rows - 1) / rows; };
    while (rows > kFewestRows && across * pieces() < kEnoughWarps) rows /= 2;
    const int64_t blocks = (across * pieces() + kWarps - 1) / kWarps;
    sweep<kSteps><<<static_cast<unsigned>(blocks), kThreads>>>(grid, out, gpu, static_cast<unsigned>(across),
                                                               static_cast<unsigned>(pieces()), rows);
}

extern "C" void solve(const float* const* grid, float* const* out, float* const* scratch, int32_t steps, int64_t height,
                      int64_t width, int64_t gpus) {
    static cudaEvent_t ended[2];
    if (height == 0 || width == 0) return;  // a grid of 0 blocks is a launch error
    for (int gpu = 0; gpu < 2; ++gpu) {
        cudaSetDevice(gpu);
        if (!ended[gpu]) cudaEventCreateWithFlags(&ended[gpu], cudaEventDisableTiming);
        if (steps <= 0)
            cudaMemcpyAsync(out[gpu], grid[gpu], height * width * sizeof(float), cudaMemcpyDeviceToDevice);
    }
    if (steps <= 0) return;
    Grid from{{grid[0], grid[1]}, height, width};
    // Single steps come first. Results go to scratch and out in turn, so that the last are in out.
    const int32_t singles = steps % kMostSteps, launches = steps / kMostSteps + singles;
    for (int32_t number = 0; number < launches; ++number) {
        float* const* to = (launches - number) % 2 ? out : scratch;
        for (int gpu = 0; gpu < 2; ++gpu) {
            cudaSetDevice(gpu);
            // It reads what the other GPU's last launch wrote, and replaces what that one read.
            if (number > 0) cudaStreamWaitEvent(0, ended[1 - gpu], 0);
            if (number < singles)
                launch<1>(from, to[gpu], gpu);
            else
                launch<kMostSteps>(from, to[gpu], gpu);
        }
        for (int gpu = 0; gpu < 2; ++gpu) {
            cudaSetDevice(gpu);
            cudaEventRecord(ended[gpu], 0);
        }
        from.halves[0] = to[0];
        from.halves[1] = to[1];
    }
}
