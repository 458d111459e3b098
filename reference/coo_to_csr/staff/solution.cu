// Row offsets by a search for boundaries: where an entry's row differs from that of the entry before, rows begin.
//
// Entry i in row b, after one in row a, settles the offsets of the rows a + 1 to b: they are i. So each offset is
// written by exactly one entry: no atomics, no scan, nothing to clear. Two entries that do not exist cover both ends:
// one ahead of the first in row -1, and number nnz in row `rows`.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kFlight = 4;  // 16-byte loads that a thread has under way at once
constexpr int kTile = kThreads * 4 * kFlight;
// Up to this many offsets a lane writes by itself; what is left of a longer run all lanes of the warp write together.
constexpr unsigned kShort = 8;

// The offsets of the rows before + 1 to here are `entry`. Called by whole warps.
__device__ void settle(int32_t* row_ptr, int32_t before, int32_t here, int32_t entry) {
    // Without a sign: from row -1 to the last one there may be 2^31 of them.
    const unsigned count = static_cast<unsigned>(here) - static_cast<unsigned>(before);
#pragma unroll 1
    for (unsigned k = 0; k < kShort && k < count; ++k) row_ptr[here - static_cast<int32_t>(k)] = entry;
    unsigned longer = __ballot_sync(kAll, count > kShort);
    while (longer != 0) {
        const int lane = __ffs(static_cast<int>(longer)) - 1;
        longer &= longer - 1;
        const int64_t first = static_cast<int64_t>(__shfl_sync(kAll, before, lane)) + 1;
        const int64_t end = static_cast<int64_t>(__shfl_sync(kAll, here, lane)) - kShort + 1;
        const int32_t value = __shfl_sync(kAll, entry, lane);
        for (int64_t r = first + threadIdx.x % 32; r < end; r += 32) row_ptr[r] = value;
    }
}

__global__ void __launch_bounds__(kThreads) offsets(const int32_t* row, int32_t* row_ptr, int32_t rows, int64_t nnz) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile;
    if (first + kTile > nnz) {  // the last block: entry by entry, with number nnz among them
        for (int64_t start = first; start <= nnz; start += kThreads) {
            const int64_t i = start + threadIdx.x;
            int32_t before = 0, here = 0;  // beyond: nothing to settle
            if (i <= nnz) {
                before = i > 0 ? row[i - 1] : -1;
                here = i < nnz ? row[i] : rows;
            }
            settle(row_ptr, before, here, static_cast<int32_t>(i));
        }
        return;
    }

    // Arrays begin at a multiple of 256 bytes: entries are taken in fours.
    const int4* fours = reinterpret_cast<const int4*>(row + first);
    int4 own[kFlight];
    int32_t before_warp[kFlight];
#pragma unroll
    for (int f = 0; f < kFlight; ++f) own[f] = fours[f * kThreads + threadIdx.x];
#pragma unroll
    for (int f = 0; f < kFlight; ++f) {
        const int64_t i = first + (f * kThreads + threadIdx.x) * 4;
        before_warp[f] = -1;
        if (threadIdx.x % 32 == 0 && i > 0) before_warp[f] = row[i - 1];
    }
#pragma unroll
    for (int f = 0; f < kFlight; ++f) {
        const int32_t i = static_cast<int32_t>(first) + (f * kThreads + static_cast<int32_t>(threadIdx.x)) * 4;
        int32_t before = __shfl_up_sync(kAll, own[f].w, 1);
        if (threadIdx.x % 32 == 0) before = before_warp[f];
        settle(row_ptr, before, own[f].x, i);
        settle(row_ptr, own[f].x, own[f].y, i + 1);
        settle(row_ptr, own[f].y, own[f].z, i + 2);
        settle(row_ptr, own[f].z, own[f].w, i + 3);
    }
}

extern "C" void solve(const int32_t* row, int32_t* row_ptr, int64_t rows, int64_t nnz) {
    // One block more than there are whole tiles: it has the rest and number nnz, so there is one for nnz = 0, too.
    offsets<<<static_cast<unsigned>(nnz / kTile + 1), kThreads>>>(row, row_ptr, static_cast<int32_t>(rows), nnz);
}
