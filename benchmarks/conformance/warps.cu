// Warps: shuffles, votes, matches, reductions, masks, divergence, and groups of less than a warp.
#include "conformance.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;
using conformance::mixed;
#define WARP(name, count) KERNEL(name, uint32_t, "bits", 1, 64, 64 * (count))
#define LANE uint32_t lane = threadIdx.x % 32, value = mixed(threadIdx.x); (void)lane; (void)value

WARP(shfl_idx, 3) { LANE; out[threadIdx.x] = __shfl_sync(~0u, value, lane * 7 % 32); out[64 + threadIdx.x] = __shfl_sync(~0u, value, 40); out[128 + threadIdx.x] = __shfl_sync(~0u, value, lane / 3, 8); }
WARP(shfl_up, 3) { LANE; out[threadIdx.x] = __shfl_up_sync(~0u, value, 1); out[64 + threadIdx.x] = __shfl_up_sync(~0u, value, 5, 16); out[128 + threadIdx.x] = __shfl_up_sync(~0u, value, 31); }
WARP(shfl_down, 3) { LANE; out[threadIdx.x] = __shfl_down_sync(~0u, value, 1); out[64 + threadIdx.x] = __shfl_down_sync(~0u, value, 3, 4); out[128 + threadIdx.x] = __shfl_down_sync(~0u, value, 17); }
WARP(shfl_xor, 3) { LANE; out[threadIdx.x] = __shfl_xor_sync(~0u, value, 16); out[64 + threadIdx.x] = __shfl_xor_sync(~0u, value, 3, 8); out[128 + threadIdx.x] = __shfl_xor_sync(~0u, value, 21); }
WARP(shfl_wide, 2) {
    LANE;
    double a = __shfl_xor_sync(~0u, value * 1.5, 9);
    long long b = __shfl_down_sync(~0u, static_cast<long long>(value) << 13, 2);
    out[threadIdx.x] = static_cast<uint32_t>(__double_as_longlong(a) >> 20);
    out[64 + threadIdx.x] = static_cast<uint32_t>(b >> 7);
}
WARP(shfl_predicate, 2) {
    LANE;
    uint32_t got, inside;
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 3, 0x800, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(got), "=r"(inside) : "r"(value));
    out[threadIdx.x] = got; out[64 + threadIdx.x] = inside;
}
WARP(shfl_part, 1) { LANE; out[threadIdx.x] = 7; if (lane % 2) out[threadIdx.x] = __shfl_sync(0xaaaaaaaa, value, lane ^ 2); }
WARP(votes_all_any, 4) {
    LANE;
    out[threadIdx.x] = __all_sync(~0u, value > 1) + 2 * __any_sync(~0u, value < 90000000) + 4 * __all_sync(~0u, lane < 31);
    out[64 + threadIdx.x] = __ballot_sync(~0u, value % 3 == 0);
    uint32_t uniform;
    asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %1, 5; vote.sync.uni.pred q, !p, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(uniform) : "r"(threadIdx.x));
    out[128 + threadIdx.x] = uniform;
    if (lane > 20) out[192 + threadIdx.x] = __ballot_sync(0xffe00000u, value & 1);
}
WARP(match_any, 2) { LANE; out[threadIdx.x] = __match_any_sync(~0u, value % 5); out[64 + threadIdx.x] = __match_any_sync(~0u, static_cast<unsigned long long>(value % 3) << 40); }
WARP(match_all, 3) { LANE; int same; out[threadIdx.x] = __match_all_sync(~0u, threadIdx.x / 32, &same) + same; out[64 + threadIdx.x] = __match_all_sync(~0u, value, &same); out[128 + threadIdx.x] = same; }
WARP(redux_add, 1) { LANE; out[threadIdx.x] = __reduce_add_sync(~0u, value); }
WARP(redux_min_max, 4) { LANE; out[threadIdx.x] = __reduce_min_sync(~0u, value); out[64 + threadIdx.x] = __reduce_max_sync(~0u, value);
    out[128 + threadIdx.x] = __reduce_min_sync(~0u, static_cast<int>(value)); out[192 + threadIdx.x] = __reduce_max_sync(~0u, static_cast<int>(value)); }
WARP(redux_logic, 3) { LANE; out[threadIdx.x] = __reduce_and_sync(~0u, value | 0xff00ff); out[64 + threadIdx.x] = __reduce_or_sync(~0u, value & 0x1010101); out[128 + threadIdx.x] = __reduce_xor_sync(~0u, value); }
WARP(redux_part, 1) { LANE; out[threadIdx.x] = lane < 12 ? __reduce_add_sync(0xfffu, value) : __reduce_add_sync(0xfffff000u, value); }
WARP(lane_masks, 6) {
    uint32_t r[6];
    asm("mov.u32 %0, %%lanemask_eq; mov.u32 %1, %%lanemask_le; mov.u32 %2, %%lanemask_lt; mov.u32 %3, %%lanemask_ge; mov.u32 %4, %%lanemask_gt; mov.u32 %5, %%laneid;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]));
    for (int k = 0; k < 6; k++) out[64 * k + threadIdx.x] = r[k];
}
WARP(active_mask, 1) { out[threadIdx.x] = __activemask(); }
WARP(nested_branches, 1) {
    LANE;
    uint32_t sum = 0;
    for (uint32_t k = 0; k < lane % 7 + 2; k++) {
        if (value >> k & 1) { if (value >> (k + 3) & 1) sum += 3; else sum ^= 0x55; }
        else if (k == 4) continue;
        else sum = sum * 5 + k;
        if (sum > 100000) break;
    }
    out[threadIdx.x] = sum + __shfl_xor_sync(~0u, sum, 1);
}
WARP(early_exit, 1) { LANE; out[threadIdx.x] = 1; if (lane % 3 == 0) return; out[threadIdx.x] = __popc(__ballot_sync(0xb6db6db6u, value & 1)); }
WARP(warp_scan, 1) {
    LANE;
    for (int step = 1; step < 32; step *= 2) { uint32_t other = __shfl_up_sync(~0u, value, step); if (lane >= step) value += other; }
    out[threadIdx.x] = value;
}
WARP(group_tiles, 3) {
    LANE;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    out[threadIdx.x] = cg::reduce(tile, value, cg::plus<uint32_t>());
    out[64 + threadIdx.x] = cg::inclusive_scan(tile, value % 100);
    out[128 + threadIdx.x] = tile.thread_rank() * 100 + tile.meta_group_rank() * 10 + tile.any(value % 9 == 0) + tile.shfl(value % 3, 5);
}
WARP(group_coalesced, 2) {
    LANE;
    if (value % 3 == 1) {
        auto group = cg::coalesced_threads();
        out[threadIdx.x] = group.size() * 100 + group.thread_rank();
        out[64 + threadIdx.x] = cg::reduce(group, value, cg::less<uint32_t>());
    }
}
WARP(group_labels, 1) { LANE; auto group = cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), value % 4); out[threadIdx.x] = cg::reduce(group, value % 1000, cg::plus<uint32_t>()); }
WARP(group_binary, 1) { LANE; auto group = cg::binary_partition(cg::tiled_partition<32>(cg::this_thread_block()), value & 1); out[threadIdx.x] = group.size() * 100 + group.thread_rank(); }
