// Blocks and grids: barriers of every kind, special registers, shared memory, grids that wait for each other.
#include "conformance.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
using conformance::mixed;

KERNEL(barrier_votes, int32_t, "bits", 2, 96, 2 * 96 * 3) {
    int i = 3 * (blockIdx.x * 96 + threadIdx.x);
    out[i] = __syncthreads_count(mixed(threadIdx.x) % 3 == 0);
    out[i + 1] = !!__syncthreads_and(threadIdx.x < 95 + blockIdx.x);
    out[i + 2] = !!__syncthreads_or(threadIdx.x == 95 * (1 - blockIdx.x) + 200 * blockIdx.x);
}
KERNEL(named_barriers, int32_t, "bits", 1, 128, 128) {
    __shared__ int left[64], right[64];
    int half = threadIdx.x / 64, i = threadIdx.x % 64;
    if (half == 0) { left[i] = i * 3; asm volatile("bar.sync 1, 64;" ::: "memory"); out[threadIdx.x] = left[63 - i]; }
    else { right[i] = i * 5; asm volatile("bar.sync 2, 64;" ::: "memory"); out[threadIdx.x] = right[(i + 9) % 64]; }
}
// One half writes and only arrives; the other waits.
KERNEL(arrive_and_sync, int32_t, "bits", 1, 128, 64) {
    __shared__ int room[64];
    if (threadIdx.x < 64) { room[threadIdx.x] = threadIdx.x * 7; __threadfence_block(); asm volatile("bar.arrive 3, 128;" ::: "memory"); }
    else { asm volatile("bar.sync 3, 128;" ::: "memory"); out[threadIdx.x - 64] = room[127 - threadIdx.x]; }
}
KERNEL(barrier_red, int32_t, "bits", 1, 64, 128) {
    int count, all;
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 40; bar.red.popc.u32 %0, 2, 64, p; }" : "=r"(count) : "r"(threadIdx.x));
    asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 64; barrier.red.and.pred q, 4, p; selp.s32 %0, 1, 0, q; }" : "=r"(all) : "r"(threadIdx.x));
    out[threadIdx.x] = count; out[64 + threadIdx.x] = all;
}
static __global__ void shaped(uint32_t* out) {
    uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    uint32_t* to = out + 4 * (block * 30 + thread), warp, lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(warp));
    to[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
    to[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    to[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16 | lane << 24;
    to[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
}
LAUNCHED(shapes, uint32_t, "bits", 4 * 30 * 12, (shaped<<<dim3(2, 3, 2), dim3(5, 3, 2)>>>(out)))
static __global__ void dynamic(uint32_t* out) {
    extern __shared__ uint32_t room[];
    __shared__ uint32_t fixed[32];
    uint32_t bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    for (int i = threadIdx.x; i < 15000; i += blockDim.x) room[i] = i * 3;
    if (threadIdx.x < 32) fixed[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[14999 - threadIdx.x * 11] + fixed[threadIdx.x % 32] + bytes;
}
LAUNCHED(dynamic_shared, uint32_t, "bits", 256, cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000); dynamic<<<1, 256, 60000>>>(out))
KERNEL(shared_types, uint32_t, "bits", 1, 64, 64) {
    __shared__ uint8_t bytes[64];
    __shared__ double wide[64];
    __shared__ struct { short a; float b; uint8_t c[3]; } mixed_up[64];
    __shared__ uint32_t grid[8][9];
    bytes[threadIdx.x] = threadIdx.x * 5; wide[threadIdx.x] = threadIdx.x / 8.0;
    mixed_up[threadIdx.x] = {static_cast<short>(threadIdx.x), 2.5f * threadIdx.x, {1, 2, static_cast<uint8_t>(threadIdx.x)}};
    grid[threadIdx.x / 8][threadIdx.x % 8] = threadIdx.x;
    __syncthreads();
    int k = 63 - threadIdx.x;
    out[threadIdx.x] = bytes[k] + static_cast<uint32_t>(wide[k] * 16) + mixed_up[k].a + static_cast<uint32_t>(mixed_up[k].b) + mixed_up[k].c[2] + grid[k % 8][k / 8];
}
static __global__ void waited(uint32_t* out) {
    cg::grid_group grid = cg::this_grid();
    uint32_t mine = static_cast<uint32_t>(grid.thread_rank()), count = static_cast<uint32_t>(grid.size());
    out[mine] = mixed(mine);
    for (int round = 1; round < 4; round++) {
        grid.sync();
        uint32_t other = out[count * (round - 1) + (mine * 37 + 11) % count];
        out[count * round + mine] = other * 3 + round;
    }
}
static void cooperate(uint32_t* out) { void* arguments[] = {&out}; cudaLaunchCooperativeKernel(waited, 8, 32, arguments); }
LAUNCHED(grid_sync, uint32_t, "bits", 4 * 8 * 32, cooperate(out))
KERNEL(group_block, uint32_t, "bits", 2, 64, 128) {
    __shared__ uint32_t room[64];
    auto block = cg::this_thread_block();
    room[block.thread_rank()] = mixed(block.thread_rank());
    block.sync();
    out[blockIdx.x * 64 + threadIdx.x] = room[(threadIdx.x + 1) % 64] + block.size() + block.group_index().x;
}
// The last block sums what all wrote.
__device__ unsigned arrived;
KERNEL(last_block, uint32_t, "bits", 8, 32, 9) {
    __shared__ bool last;
    uint32_t sum = __reduce_add_sync(~0u, mixed(blockIdx.x * 32 + threadIdx.x) % 1000);
    if (threadIdx.x == 0) { out[blockIdx.x] = sum; __threadfence(); last = atomicAdd(&arrived, 1) == gridDim.x - 1; }
    __syncthreads();
    if (last && threadIdx.x == 0) { __threadfence(); for (int i = 0; i < 8; i++) out[8] += const_cast<volatile uint32_t*>(out)[i]; arrived = 0; }
}
KERNEL(clocks_rise, uint32_t, "bits", 1, 32, 32) {
    long long first = clock64();
    clock_t before = clock();
    uint64_t now, later;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    float x = threadIdx.x;
    for (int i = 0; i < 100; i++) x = x * 1.5f + 1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
    out[threadIdx.x] = (clock64() > first) + 2 * (clock() != before) + 4 * (later >= now) + 8 * (x > 0);
}
