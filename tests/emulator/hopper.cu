// What sm_80 to sm_90 do on their own: mbarriers, clusters, bulk copies, tensors and products of warp groups. Each program
// compares what it computed with the host; it returns 0, or the number of the line where that was not right.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cmath>
#include <cstdint>
#include <algorithm>
#include <cstring>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(it) do { if (!(it)) return __LINE__; } while (0)
#define RAN(it) CHECK((it) == cudaSuccess)

namespace cg = cooperative_groups;

// ---- what PTX has and C++ has not ----
__device__ __forceinline__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbarrier_init(uint64_t* at, uint32_t count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(at)), "r"(count) : "memory"); }
__device__ __forceinline__ void mbarrier_expect(uint64_t* at, uint32_t bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(at)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void mbarrier_arrive(uint64_t* at) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(at)) : "memory"); }
__device__ __forceinline__ void mbarrier_wait(uint64_t* at, uint32_t parity) {
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE: }" ::"r"(shared(at)), "r"(parity) : "memory");
}
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk_load(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)), "l"(from), "r"(bytes), "r"(shared(barrier)) : "memory");
}
__device__ __forceinline__ void bulk_store(void* to, const void* from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// ---- mbarriers ----
__global__ void library_barrier(float* out, const float* in) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ float tile[128];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, tile, in, sizeof tile, barrier);
    barrier.arrive_and_wait();
    float mine = tile[threadIdx.x ^ 1];
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    tile[threadIdx.x] = mine;
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
__global__ void library_pipeline(float* out, const float* in) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) float tile[2][128];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    auto load = [&](int k) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, tile[k % 2], in + 128 * k, cuda::aligned_size_t<16>(sizeof tile[0]), pipe);
        pipe.producer_commit();
    };
    load(0);
    for (int k = 0; k < 4; k++) {
        if (k < 3) load(k + 1);
        pipe.consumer_wait();
        out[threadIdx.x + 128 * k] = tile[k % 2][threadIdx.x ^ 1];
        pipe.consumer_release();
    }
}
__global__ void group_copy(float* out, const float* in) {
    __shared__ float tile[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile);
    cg::wait(block);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
// Warp 0 produces, the others consume: full and empty barriers, two stages.
__global__ void producer_consumer(float* out, const float* in) {
    __shared__ uint64_t full[2], empty[2];
    __shared__ float tile[2][96];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) mbarrier_init(&full[s], 32), mbarrier_init(&empty[s], 96);
    __syncthreads();
    for (int k = 0; k < 6; k++) {
        int s = k % 2, parity = k / 2 % 2;
        if (warp == 0) {
            mbarrier_wait(&empty[s], parity ^ 1);
            for (int i = lane; i < 96; i += 32) tile[s][i] = in[96 * k + i] * 2.0f;
            mbarrier_arrive(&full[s]);
        } else {
            mbarrier_wait(&full[s], parity);
            out[96 * k + threadIdx.x - 32] = tile[s][95 - (threadIdx.x - 32)];
            mbarrier_arrive(&empty[s]);
        }
    }
}
// Counts that are given, dropped and asked for; states and phases.
__global__ void counted(int* out) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) mbarrier_init(&barrier, 4);
    __syncwarp();
    if (threadIdx.x == 0) {
        uint64_t state, other;
        uint32_t pending, at = shared(&barrier), done;
        asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(state) : "r"(at) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
        out[0] = pending;
        asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(other) : "r"(at) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(other));
        out[1] = pending;
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(other) : "memory");
        out[2] = done;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(other) : "memory");
        out[3] = done;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
        out[4] = pending;
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    }
}

// ---- clusters ----
__global__ void __cluster_dims__(4, 1, 1) cluster_sum(float* out, const float* in) {
    __shared__ float part[64], total;
    cg::cluster_group cluster = cg::this_cluster();
    part[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0) total = 0.0f;
    cluster.sync();
    float sum = 0.0f;
    for (unsigned rank = 0; rank < cluster.num_blocks(); rank++) sum += cluster.map_shared_rank(part, rank)[threadIdx.x];
    atomicAdd(cluster.map_shared_rank(&total, (cluster.block_rank() + 1) % cluster.num_blocks()), sum);
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = total;
}
__global__ void cluster_shape(int* out) {
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ int mine;
    uint32_t rank, own;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(own) : "r"(shared(&mine)), "r"(3u));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(own));
    dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    int index = blockIdx.x + gridDim.x * blockIdx.y;
    out[index] = cluster.block_rank() * 10000 + at.x * 1000 + at.y * 100 + size.x * 10 + size.y + rank * 100000;
}
// Each block writes to its neighbour, and arrives at its neighbour's mbarrier.
__global__ void __cluster_dims__(2, 1, 1) remote_arrival(float* out, const float* in) {
    __shared__ uint64_t barrier;
    __shared__ float inbox[64];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mbarrier_init(&barrier, 64);
    cluster.sync();
    uint32_t to, at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared(&inbox[threadIdx.x])), "r"(cluster.block_rank() ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared(&barrier)), "r"(cluster.block_rank() ^ 1));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(in[blockIdx.x * 64 + threadIdx.x]) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory");
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN; }" ::"r"(shared(&barrier)) : "memory");
    out[blockIdx.x * 64 + threadIdx.x] = inbox[63 - threadIdx.x];
    cluster.sync();
}

// ---- bulk copies and tensors ----
__device__ __forceinline__ void tensor_load(void* to, const CUtensorMap* map, int x, int y, uint64_t* barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared(to)), "l"(map), "r"(x), "r"(y), "r"(shared(barrier)) : "memory");
}
__device__ __forceinline__ void tensor_store(const CUtensorMap* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(shared(from)) : "memory");
}
// Three stages of bulk copies, each doubled in place and copied back.
__global__ void bulk_pipeline(float* out, const float* in, int tiles) {
    __shared__ alignas(128) float tile[3][256];
    __shared__ uint64_t full[3];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 3; s++) mbarrier_init(&full[s], 1);
        proxy_fence();
    }
    __syncthreads();
    auto load = [&](int k) {
        mbarrier_expect(&full[k % 3], sizeof tile[0]);
        bulk_load(tile[k % 3], in + 256 * k, sizeof tile[0], &full[k % 3]);
    };
    if (threadIdx.x == 0) load(0), load(1);
    for (int k = 0; k < tiles; k++) {
        mbarrier_wait(&full[k % 3], k / 3 % 2);
        for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[k % 3][i] *= 2.0f;
        proxy_fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            bulk_store(out + 256 * k, tile[k % 3], sizeof tile[0]);
            bulk_commit();
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            if (k + 2 < tiles) load(k + 2);
        }
    }
    if (threadIdx.x == 0) bulk_wait();
}
// Adds by bulk copies: all blocks to one place.
__global__ void bulk_sum(int* out) {
    __shared__ alignas(16) int tile[64];
    tile[threadIdx.x] = blockIdx.x + threadIdx.x;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(out), "r"(shared(tile)), "r"(256) : "memory");
        bulk_commit();
        bulk_wait();
    }
}
// A map that the kernel makes itself, of 20 rows of 100 floats, 104 from one to the next: 8 rows of 32 over a corner.
__global__ void made_map(CUtensorMap* made, float* out, const float* in) {
    __shared__ alignas(128) uint32_t map[32];
    __shared__ alignas(128) float tile[8 * 32];
    __shared__ uint64_t barrier;
    if (threadIdx.x < 32) {
        map[threadIdx.x] = 0;
        __syncwarp();
        if (threadIdx.x == 0) {
            asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared(map)), "l"(in) : "memory");
            asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" ::"r"(shared(map)) : "memory");
#define REPLACE(FIELD, AT, VALUE) asm volatile("tensormap.replace.tile." FIELD ".shared::cta.b1024.b32 [%0], " AT ", %1;" ::"r"(shared(map)), "r"(VALUE) : "memory")
            REPLACE("box_dim", "0", 32); REPLACE("box_dim", "1", 8);
            REPLACE("global_dim", "0", 100); REPLACE("global_dim", "1", 20);
            REPLACE("element_stride", "0", 1); REPLACE("element_stride", "1", 1);
#undef REPLACE
            asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(shared(map)), "l"(416ull) : "memory");
            asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 7;" ::"r"(shared(map)) : "memory");
            asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(shared(map)) : "memory");
            asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(shared(map)) : "memory");
            asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(shared(map)) : "memory");
        }
        __syncwarp();
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(made), "r"(shared(map)) : "memory");
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(made) : "memory");
    }
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        proxy_fence();
        mbarrier_expect(&barrier, sizeof tile);
        tensor_load(tile, made, 80, 15, &barrier);
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) out[i] = tile[i];
}
// Tiles of 64 x 32 halves, swizzled by 128 bytes, over the edges of a matrix of 100 x 70: as they lie, and stored turned about.
__global__ void tensor_tiles(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, uint16_t* raw) {
    __shared__ alignas(1024) uint16_t tile[32 * 64];
    __shared__ uint64_t barrier;
    int x = blockIdx.x * 64, y = blockIdx.y * 32;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        proxy_fence();
        asm volatile("prefetch.tensormap [%0];" ::"l"(&from));
        mbarrier_expect(&barrier, sizeof tile);
        tensor_load(tile, &from, x - 8, y - 3, &barrier);  // from before the tensor
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0);
    uint16_t* mine = raw + (blockIdx.x + gridDim.x * blockIdx.y) * 32 * 64;
    for (int i = threadIdx.x; i < 32 * 64; i += blockDim.x) {
        mine[i] = tile[i];
        tile[i] ^= 0x8000;
    }
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        tensor_store(&to, x, y, tile);
        bulk_commit();
        bulk_wait();
    }
}
// 16 by 2 floats of a tensor whose rows do not end at a multiple of 16 bytes.
__global__ void tensor_tail(const __grid_constant__ CUtensorMap to, int x) {
    __shared__ alignas(128) float tile[32];
    tile[threadIdx.x] = threadIdx.x + 1.0f;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        tensor_store(&to, x, 0, tile);
        bulk_commit();
        bulk_wait();
    }
}
__global__ void tensor_cube(const __grid_constant__ CUtensorMap map, float* out) {
    __shared__ alignas(128) float tile[4 * 3 * 8];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        proxy_fence();
        mbarrier_expect(&barrier, sizeof tile);
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared(tile)), "l"(&map), "r"(-4), "r"(1), "r"(2), "r"(shared(&barrier)) : "memory");
    }
    __syncthreads();
    mbarrier_wait(&barrier, 0);
    if (threadIdx.x < 96) out[threadIdx.x] = tile[threadIdx.x];
}
// Each of four blocks fetches a quarter for all of them.
__global__ void __cluster_dims__(4, 1, 1) multicast(const __grid_constant__ CUtensorMap map, float* out) {
    __shared__ alignas(128) float tile[4][64];
    __shared__ uint64_t barrier;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        mbarrier_expect(&barrier, sizeof tile);
    }
    cluster.sync();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(tile[rank])), "l"(&map), "r"(0), "r"(rank), "r"(shared(&barrier)), "h"(static_cast<uint16_t>(15)) : "memory");
    mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < 256; i += blockDim.x) out[blockIdx.x * 256 + i] = tile[i / 64][i % 64] + rank;
    cluster.sync();
}
// A block sends what it has to its neighbour's shared memory.
__global__ void __cluster_dims__(2, 1, 1) block_to_block(float* out, const float* in) {
    __shared__ alignas(16) float outbox[64], inbox[64];
    __shared__ uint64_t barrier;
    cg::cluster_group cluster = cg::this_cluster();
    outbox[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_expect(&barrier, sizeof inbox);
    }
    proxy_fence();
    cluster.sync();
    if (threadIdx.x == 0) {
        uint32_t to, at;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared(inbox)), "r"(cluster.block_rank() ^ 1));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared(&barrier)), "r"(cluster.block_rank() ^ 1));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "r"(shared(outbox)), "r"(static_cast<uint32_t>(sizeof inbox)), "r"(at) : "memory");
    }
    mbarrier_wait(&barrier, 0);
    out[blockIdx.x * 64 + threadIdx.x] = inbox[threadIdx.x];
    cluster.sync();
}

// ---- products of warp groups ----
__device__ __forceinline__ void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void product_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// Swizzle: 0 none, 1 128, 2 64, 3 32 bytes. Offsets in bytes.
__device__ __forceinline__ uint64_t described(const void* at, uint32_t leading, uint32_t stride, uint64_t swizzle) {
    return (shared(at) >> 4 & 0x3fff) | static_cast<uint64_t>(leading >> 4) << 16 | static_cast<uint64_t>(stride >> 4) << 32 | swizzle << 62;
}
__device__ __forceinline__ void product_f16(float (&d)[32], uint64_t a, uint64_t b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}
__device__ __forceinline__ void product_f16_n(float (&d)[32], uint64_t a, uint64_t b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}
__device__ __forceinline__ void product_f16_mn(float (&d)[32], uint64_t a, uint64_t b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 1, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}
__device__ __forceinline__ void product_tf32(float (&d)[32], uint64_t a, uint64_t b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}
__device__ __forceinline__ void product_s8(int (&d)[4], uint64_t a, uint64_t b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, p; }"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "l"(a), "l"(b), "r"(adds));
}
__device__ __forceinline__ void product_e4m3(float (&d)[4], uint64_t a, uint64_t b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0, %1, %2, %3}, %4, %5, p, 1, -1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b), "r"(adds));
}
__device__ __forceinline__ void product_bf16(float (&d)[4], uint64_t a, uint64_t b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b), "r"(adds));
}
__device__ __forceinline__ void product_registers(uint32_t (&d)[2], const uint32_t (&a)[4], uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, %6, 1, 1, 1, 0;"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
// C = A B of tiles of 64 x 64: a producer's warp loads 128 bytes of K at a time by TMA, swizzled, three stages ahead; four warps
// multiply. HOW 0: A and B lie along K; 1: B lies along N; 2: A along M, too; 3: TF32.
template <int HOW>
__global__ void __launch_bounds__(160) tiled_product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int n, int steps) {
    extern __shared__ uint8_t raw[];
    __shared__ uint64_t full[3], empty[3];
    uint8_t* tiles = raw + (1024 - shared(raw) % 1024) % 1024;
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 3; s++) mbarrier_init(&full[s], 1), mbarrier_init(&empty[s], 128);
        proxy_fence();
    }
    __syncthreads();
    constexpr int depth = HOW == 3 ? 32 : 64;
    if (warp == 4) {
        if (threadIdx.x % 32 == 0)
            for (int k = 0; k < steps; k++) {
                int s = k % 3;
                uint8_t* to = tiles + s * 16384;
                mbarrier_wait(&empty[s], (k / 3 & 1) ^ 1);
                mbarrier_expect(&full[s], 16384);
                if (HOW == 2) tensor_load(to, &a, blockIdx.y * 64, k * depth, &full[s]);
                else tensor_load(to, &a, k * depth, blockIdx.y * 64, &full[s]);
                if (HOW == 1 || HOW == 2) tensor_load(to + 8192, &b, blockIdx.x * 64, k * depth, &full[s]);
                else tensor_load(to + 8192, &b, k * depth, blockIdx.x * 64, &full[s]);
            }
        return;
    }
    float d[32];
    for (int k = 0; k < steps; k++) {
        int s = k % 3;
        uint8_t* at = tiles + s * 16384;
        mbarrier_wait(&full[s], k / 3 & 1);
        product_fence();
        for (int i = 0; i < 4; i++) {
            int adds = k > 0 || i > 0;
            if (HOW == 0) product_f16(d, described(at + 32 * i, 16, 1024, 1), described(at + 8192 + 32 * i, 16, 1024, 1), adds);
            if (HOW == 1) product_f16_n(d, described(at + 32 * i, 16, 1024, 1), described(at + 8192 + 2048 * i, 8192, 1024, 1), adds);
            if (HOW == 2) product_f16_mn(d, described(at + 2048 * i, 8192, 1024, 1), described(at + 8192 + 2048 * i, 8192, 1024, 1), adds);
            if (HOW == 3) product_tf32(d, described(at + 32 * i, 16, 1024, 1), described(at + 8192 + 32 * i, 16, 1024, 1), adds);
        }
        product_commit();
        product_wait<0>();
        mbarrier_arrive(&empty[s]);
    }
    int lane = threadIdx.x % 32, row = blockIdx.y * 64 + warp * 16 + lane / 4, column = blockIdx.x * 64 + lane % 4 * 2;
    for (int i = 0; i < 32; i++) c[(row + i / 2 % 2 * 8) * n + column + i / 4 * 8 + i % 2] = d[i];
}
// 64 x 8 of a product along 32 bytes of K, from memory that threads lay out: blocks of 8 rows in every swizzle.
template <int SWIZZLE, typename Product, typename Result>
__device__ void laid_out(const uint8_t* a, const uint8_t* b, Result* out, Product product) {
    __shared__ alignas(1024) uint8_t rows_a[8192], rows_b[1024];
    constexpr int width = SWIZZLE == 0 ? 16 : SWIZZLE == 1 ? 128 : SWIZZLE == 2 ? 64 : 32, mask = SWIZZLE == 0 ? 0 : width / 16 - 1;
    constexpr int stride = SWIZZLE == 0 ? 128 : 8 * width, leading = SWIZZLE == 0 ? 2048 : 16;
    for (int i = threadIdx.x; i < 64 * 32; i += 128) {
        int row = i / 32, byte = i % 32, to = row / 8 * stride + row % 8 * width + (SWIZZLE == 0 ? byte / 16 * leading + byte % 16 : byte);
        rows_a[to ^ (to >> 7 & mask) << 4] = a[i];
    }
    for (int i = threadIdx.x; i < 8 * 32; i += 128) {
        int row = i / 32, byte = i % 32, to = row * width + (SWIZZLE == 0 ? byte / 16 * 128 + byte % 16 : byte);
        rows_b[to ^ (to >> 7 & mask) << 4] = b[i];
    }
    proxy_fence();
    __syncthreads();
    Result d[4] = {};
    product_fence();
    product(d, described(rows_a, leading, stride, SWIZZLE), described(rows_b, 128, stride, SWIZZLE));
    product_commit();
    product_wait<0>();
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    for (int i = 0; i < 4; i++) out[(row + i / 2 * 8) * 8 + column + i % 2] = d[i];
}
__global__ void product_none(const uint8_t* a, const uint8_t* b, int* out) { laid_out<0>(a, b, out, [](int (&d)[4], uint64_t a, uint64_t b) { product_s8(d, a, b, 0); }); }
__global__ void product_64(const uint8_t* a, const uint8_t* b, float* out) { laid_out<2>(a, b, out, [](float (&d)[4], uint64_t a, uint64_t b) { product_e4m3(d, a, b, 0); }); }
__global__ void product_32(const uint8_t* a, const uint8_t* b, float* out) { laid_out<3>(a, b, out, [](float (&d)[4], uint64_t a, uint64_t b) { product_bf16(d, a, b, 1); }); }
// A in registers, results in halves, two groups under way.
__global__ void product_halves(const __half* a, const __half* b, __half* out) {
    __shared__ alignas(256) __half rows[2][8 * 16];
    for (int i = threadIdx.x; i < 256; i += 128) rows[i / 128][i % 16 / 8 * 64 + i % 128 / 16 * 8 + i % 8] = b[i];
    proxy_fence();
    __syncthreads();
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    uint32_t d[2] = {}, e[2] = {}, mine[4];
    for (int i = 0; i < 4; i++) mine[i] = *reinterpret_cast<const uint32_t*>(a + (row + i % 2 * 8) * 16 + column + i / 2 * 8);
    product_fence();
    product_registers(d, mine, described(rows[0], 128, 256, 0));
    product_commit();
    product_registers(e, mine, described(rows[1], 128, 256, 0));
    product_commit();
    product_wait<1>();
    for (int i = 0; i < 2; i++) *reinterpret_cast<uint32_t*>(out + (row + i * 8) * 8 + column) = d[i];
    product_wait<0>();
    for (int i = 0; i < 2; i++) *reinterpret_cast<uint32_t*>(out + 512 + (row + i * 8) * 8 + column) = e[i];
}

// ---- how sums are rounded ----
// 64 x 8 of a product along 32 bytes of K, added to what is in ``sums``.
template <typename Product>
__device__ void group_sum(const uint8_t* a, const uint8_t* b, float* sums, Product product) {
    __shared__ alignas(1024) uint8_t rows_a[2048], rows_b[256];
    for (int i = threadIdx.x; i < 64 * 32; i += 128) rows_a[i / 256 * 128 + i / 32 % 8 * 16 + i % 32 / 16 * 1024 + i % 16] = a[i];
    for (int i = threadIdx.x; i < 8 * 32; i += 128) rows_b[i / 32 * 16 + i % 32 / 16 * 128 + i % 16] = b[i];
    proxy_fence();
    __syncthreads();
    int at = (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * 8 + threadIdx.x % 4 * 2;
    float d[4];
    for (int i = 0; i < 4; i++) d[i] = sums[at + i / 2 * 64 + i % 2];
    product_fence();
    product(d, described(rows_a, 1024, 128, 0), described(rows_b, 128, 128, 0));
    product_commit();
    product_wait<0>();
    for (int i = 0; i < 4; i++) sums[at + i / 2 * 64 + i % 2] = d[i];
}
#define GROUP_SUM(NAME, FORM, ENDING)                                                                                        \
    __global__ void NAME(const uint8_t* a, const uint8_t* b, float* sums) {                                                    \
        group_sum(a, b, sums, [](float (&d)[4], uint64_t a, uint64_t b) {                                                      \
            asm volatile("wgmma.mma_async.sync.aligned." FORM " {%0, %1, %2, %3}, %4, %5, 1, 1, 1" ENDING ";"                  \
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));                                   \
        });                                                                                                                    \
    }
GROUP_SUM(group_e4m3, "m64n8k32.f32.e4m3.e4m3", "")
GROUP_SUM(group_e5m2, "m64n8k32.f32.e5m2.e5m2", "")
GROUP_SUM(group_f16, "m64n8k16.f32.f16.f16", ", 0, 0")
GROUP_SUM(group_bf16, "m64n8k16.f32.bf16.bf16", ", 0, 0")
GROUP_SUM(group_tf32, "m64n8k8.f32.tf32.tf32", "")
// The same of one warp, of the first 16 rows.
#define WARP_SUM(NAME, FORM)                                                                                                   \
    __global__ void NAME(const uint8_t* a, const uint8_t* b, float* sums) {                                                    \
        int row = threadIdx.x / 4, bytes = threadIdx.x % 4 * 4, at = row * 8 + threadIdx.x % 4 * 2;                            \
        uint32_t x[4], y[2];                                                                                                   \
        float d[4];                                                                                                            \
        for (int i = 0; i < 4; i++) x[i] = *reinterpret_cast<const uint32_t*>(a + (row + i % 2 * 8) * 32 + bytes + i / 2 * 16); \
        for (int i = 0; i < 2; i++) y[i] = *reinterpret_cast<const uint32_t*>(b + row * 32 + bytes + i * 16);                  \
        for (int i = 0; i < 4; i++) d[i] = sums[at + i / 2 * 64 + i % 2];                                                      \
        asm volatile("mma.sync.aligned." FORM " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                         \
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));                                    \
        for (int i = 0; i < 4; i++) sums[at + i / 2 * 64 + i % 2] = d[i];                                                      \
    }
WARP_SUM(warp_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
WARP_SUM(warp_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32")
WARP_SUM(warp_f16, "m16n8k16.row.col.f32.f16.f16.f32")
WARP_SUM(warp_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
WARP_SUM(warp_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static bool encode(CUtensorMap* map, CUtensorMapDataType type, int rank, void* data, const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                   CUtensorMapSwizzle swizzle, bool nan = false) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status;
    const cuuint32_t ones[5] = {1, 1, 1, 1, 1};
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status) != cudaSuccess || status != cudaDriverEntryPointSuccess) return false;
    return reinterpret_cast<Encode>(found)(map, type, rank, data, sizes, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                           nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <typename T>
static std::vector<T> fetched(const T* device, size_t count) {
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

static uint64_t digest;
template <typename T>
static void keep(const std::vector<T>& values) {  // FNV: what a card and the emulated GPU are compared by
    for (auto& it : values)
        for (size_t i = 0; i < sizeof(T); i++) digest = (digest ^ reinterpret_cast<const uint8_t*>(&it)[i]) * 0x100000001b3ull;
}

static float tf32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    bits &= 0xffffe000u;
    memcpy(&value, &bits, 4);
    return value;
}
// Random numbers of wide ranges: of e4m3, e5m2, f16, bf16, tf32; and sums to add them to.
struct Wide {
    uint32_t seed = 12345;
    uint32_t next() { seed = seed * 1664525u + 1013904223u; return seed >> 8; }
    void fill(int kind, std::vector<uint8_t>& bytes) {
        static const uint32_t SIZES[] = {1, 1, 2, 2, 4}, LOWEST[] = {3, 10, 11, 121, 121}, RANGES[] = {8, 9, 8, 10, 10}, BITS[] = {3, 2, 10, 7, 10}, PLACES[] = {0, 0, 0, 0, 13};
        for (size_t i = 0; i < bytes.size(); i += SIZES[kind]) {
            uint32_t sign = next() & 1, exponent = LOWEST[kind] + next() % RANGES[kind];
            uint32_t word = sign << (8 * SIZES[kind] - 1) | (exponent << BITS[kind] | (next() & ((1u << BITS[kind]) - 1))) << PLACES[kind];
            memcpy(&bytes[i], &word, SIZES[kind]);
        }
    }
    void fill(int trial, std::vector<float>& sums) {
        for (auto& sum : sums) {
            uint32_t sign = next() & 1, word = 0;
            if (trial) {
                uint32_t exponent = 116 + next() % (trial == 1 ? 24 : 14);
                word = sign << 31 | exponent << 23 | (next() & 0x7fffff);
            }
            memcpy(&sum, &word, 4);
        }
    }
};
// A matrix's element as an operand has it, from where the program put it.
struct Operand {
    std::vector<__half> halves;
    std::vector<float> floats;
    float at(size_t i) const { return halves.empty() ? tf32(floats[i]) : __half2float(halves[i]); }
    Operand(const std::vector<float>& given, size_t first, size_t count, bool is_half) {
        for (size_t i = 0; i < count; i++)
            if (is_half) halves.push_back(__float2half(given[first + i]));
            else floats.push_back(given[first + i]);
    }
    const void* data() const { return halves.empty() ? static_cast<const void*>(floats.data()) : halves.data(); }
    size_t bytes() const { return halves.size() * 2 + floats.size() * 4; }
};
template <int HOW>
static int tiled(float* out, uint8_t* room, const std::vector<float>& given) {
    constexpr bool is_half = HOW != 3, along_m = HOW == 2, along_n = HOW == 1 || HOW == 2;
    const int m = 128, n = 192, k = is_half ? 256 : 128, size = is_half ? 2 : 4, depth = 128 / size;
    Operand a(given, 0, m * k, is_half), b(given, 1000, n * k, is_half);
    uint8_t* b_room = room + m * k * size;
    RAN(cudaMemcpy(room, a.data(), a.bytes(), cudaMemcpyHostToDevice));
    RAN(cudaMemcpy(b_room, b.data(), b.bytes(), cudaMemcpyHostToDevice));
    auto type = is_half ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    CUtensorMap a_map, b_map;
    auto describe = [&](CUtensorMap* map, void* data, bool across, int length) {
        cuuint64_t sizes[2] = {cuuint64_t(across ? length : k), cuuint64_t(across ? k : length)}, strides[1] = {sizes[0] * size};
        cuuint32_t box[2] = {cuuint32_t(depth), 64};
        return encode(map, type, 2, data, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_128B);
    };
    CHECK(describe(&a_map, room, along_m, m) && describe(&b_map, b_room, along_n, n));
    RAN(cudaFuncSetAttribute(tiled_product<HOW>, cudaFuncAttributeMaxDynamicSharedMemorySize, 50176));
    tiled_product<HOW><<<dim3(n / 64, m / 64), 160, 50176>>>(a_map, b_map, out, n, k / depth);
    auto got = fetched(out, m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++) sum += double(a.at(along_m ? l * m + i : i * k + l)) * b.at(along_n ? l * n + j : j * k + l);
            CHECK(std::abs(got[i * n + j] - sum) < 1e-3 * (1 + std::abs(sum)));
        }
    return 0;
}

static int run(int which, float* out, float* in, const std::vector<float>& given) {
    switch (which) {
        case 0: {
            library_barrier<<<1, 128>>>(out, in);
            auto got = fetched(out, 128);
            for (int i = 0; i < 128; i++) CHECK(got[i] == given[(127 - i) ^ 1]);
            keep(got);
            break;
        }
        case 1: {
            library_pipeline<<<1, 128>>>(out, in);
            auto got = fetched(out, 512);
            for (int i = 0; i < 512; i++) CHECK(got[i] == given[i ^ 1]);
            keep(got);
            break;
        }
        case 2: {
            group_copy<<<1, 128>>>(out, in);
            auto got = fetched(out, 128);
            for (int i = 0; i < 128; i++) CHECK(got[i] == given[127 - i]);
            keep(got);
            break;
        }
        case 3: {
            producer_consumer<<<2, 128>>>(out, in);
            auto got = fetched(out, 576);
            for (int i = 0; i < 576; i++) CHECK(got[i] == 2.0f * given[i / 96 * 96 + 95 - i % 96]);
            keep(got);
            break;
        }
        case 4: {
            counted<<<1, 32>>>(reinterpret_cast<int*>(out));
            auto got = fetched(reinterpret_cast<int*>(out), 5);
            CHECK(got[0] == 4 && got[1] == 2 && got[2] == 0 && got[3] == 1 && got[4] == 3);
            keep(got);
            break;
        }
        case 5: {
            cluster_sum<<<8, 64>>>(out, in);
            auto got = fetched(out, 8);
            for (int c = 0; c < 2; c++) {
                double sum = 0;
                for (int i = 0; i < 256; i++) sum += given[256 * c + i];
                for (int b = 0; b < 4; b++) CHECK(std::abs(got[4 * c + b] - sum) < 1e-3);
            }
            break;
        }
        case 6: {
            cudaLaunchConfig_t config = {};
            cudaLaunchAttribute attribute = {};
            attribute.id = cudaLaunchAttributeClusterDimension;
            attribute.val.clusterDim.x = 2; attribute.val.clusterDim.y = 2; attribute.val.clusterDim.z = 1;
            config.gridDim = dim3(4, 4); config.blockDim = dim3(32);
            config.attrs = &attribute; config.numAttrs = 1;
            RAN(cudaLaunchKernelEx(&config, cluster_shape, reinterpret_cast<int*>(out)));
            auto got = fetched(reinterpret_cast<int*>(out), 16);
            for (int i = 0; i < 16; i++) {
                int x = i % 4 % 2, y = i / 4 % 2;
                CHECK(got[i] == (x + 2 * y) * 10000 + x * 1000 + y * 100 + 22 + 300000);
            }
            config.gridDim = dim3(3, 4);
            CHECK(cudaLaunchKernelEx(&config, cluster_shape, reinterpret_cast<int*>(out)) != cudaSuccess);
            cudaGetLastError();
            keep(got);
            break;
        }
        case 7: {
            remote_arrival<<<4, 64>>>(out, in);
            auto got = fetched(out, 256);
            for (int i = 0; i < 256; i++) CHECK(got[i] == given[(i / 64 ^ 1) * 64 + 63 - i % 64]);
            keep(got);
            break;
        }
        case 8: {
            bulk_pipeline<<<1, 128>>>(out, in, 8);
            auto got = fetched(out, 2048);
            for (int i = 0; i < 2048; i++) CHECK(got[i] == 2.0f * given[i]);
            keep(got);
            break;
        }
        case 9: {
            bulk_sum<<<10, 64>>>(reinterpret_cast<int*>(out));
            auto got = fetched(reinterpret_cast<int*>(out), 64);
            for (int i = 0; i < 64; i++) CHECK(got[i] == 45 + 10 * i);
            keep(got);
            break;
        }
        case 10: {  // 70 rows of 100 halves, 104 from one to the next
            const int width = 100, height = 70, pitch = 104, across = 2, down = 3;
            CUtensorMap from, to;
            cuuint64_t sizes[2] = {width, height}, strides[1] = {pitch * 2};
            cuuint32_t box[2] = {64, 32};
            auto* halves = reinterpret_cast<uint16_t*>(in);
            auto* target = reinterpret_cast<uint16_t*>(out);
            CHECK(encode(&from, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, halves, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_128B));
            CHECK(encode(&to, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, target, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_128B));
            tensor_tiles<<<dim3(across, down), 128>>>(from, to, target + 16384);
            auto* host = reinterpret_cast<const uint16_t*>(given.data());
            auto stored = fetched(target, pitch * height), raw = fetched(target + 16384, across * down * 2048);
            auto source = [&](int x, int y) { return x >= 0 && x < width && y >= 0 && y < height ? host[y * pitch + x] : 0; };
            // A card stores 16 bytes or none: four elements behind the last column, too.
            for (int y = 0; y < height; y++)
                for (int x = 0; x < pitch; x++) CHECK(stored[y * pitch + x] == (source(x - 8, y - 3) ^ 0x8000));
            for (int b = 0; b < across * down; b++)
                for (int i = 0; i < 2048; i++) {
                    int at = 2 * i ^ (2 * i >> 7 & 7) << 4;
                    CHECK(raw[b * 2048 + at / 2] == source(b % across * 64 - 8 + i % 64, b / across * 32 - 3 + i / 64));
                }
            keep(raw);
            break;
        }
        case 11: {  // three dimensions, over an edge, with NaN there
            CUtensorMap map;
            cuuint64_t sizes[3] = {20, 9, 7}, strides[2] = {80, 80 * 9};
            cuuint32_t box[3] = {8, 3, 4};
            CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, in, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE, true));
            tensor_cube<<<1, 128>>>(map, out);
            auto got = fetched(out, 96);
            for (int i = 0; i < 96; i++) {
                int x = i % 8 - 4, y = i / 8 % 3 + 1, z = i / 24 + 2;
                if (x < 0) CHECK(got[i] != got[i]);
                else CHECK(got[i] == given[(z * 9 + y) * 20 + x]);
            }
            break;
        }
        case 12: {
            CUtensorMap map;
            cuuint64_t sizes[2] = {64, 4}, strides[1] = {256};
            cuuint32_t box[2] = {64, 1};
            CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE));
            multicast<<<8, 64>>>(map, out);
            auto got = fetched(out, 2048);
            for (int i = 0; i < 2048; i++) CHECK(got[i] == given[i % 256] + i / 256 % 4);
            keep(got);
            break;
        }
        case 13: {
            block_to_block<<<4, 64>>>(out, in);
            auto got = fetched(out, 256);
            for (int i = 0; i < 256; i++) CHECK(got[i] == given[i ^ 64]);
            keep(got);
            break;
        }
        case 14: if (int line = tiled<0>(out, reinterpret_cast<uint8_t*>(in), given)) return line; break;
        case 15: if (int line = tiled<1>(out, reinterpret_cast<uint8_t*>(in), given)) return line; break;
        case 16: if (int line = tiled<2>(out, reinterpret_cast<uint8_t*>(in), given)) return line; break;
        case 17: if (int line = tiled<3>(out, reinterpret_cast<uint8_t*>(in), given)) return line; break;
        case 18: {  // bytes as integers, as 8-bit floats, as bfloat16
            std::vector<uint8_t> bytes(64 * 32 + 8 * 32);
            for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<uint8_t>(i * 37 % 113 + (i * 11 % 3 == 0 ? 128 : 0));
            auto* data = reinterpret_cast<uint8_t*>(in);
            RAN(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
            product_none<<<1, 128>>>(data, data + 2048, reinterpret_cast<int*>(out));
            product_64<<<1, 128>>>(data, data + 2048, out + 512);
            std::vector<uint8_t> brains_of(bytes.size());
            for (size_t i = 0; i < brains_of.size(); i += 2) memcpy(&brains_of[i], reinterpret_cast<const uint8_t*>(&given[i / 2]) + 2, 2);
            RAN(cudaMemcpy(data + 4096, brains_of.data(), brains_of.size(), cudaMemcpyHostToDevice));
            product_32<<<1, 128>>>(data + 4096, data + 4096 + 2048, out + 1024);
            auto integers = fetched(reinterpret_cast<int*>(out), 512);
            auto floats = fetched(out + 512, 1024);
            auto small = [](uint8_t bits, int exponent_bits) {
                int mantissa_bits = 7 - exponent_bits, exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1), mantissa = bits & ((1 << mantissa_bits) - 1);
                int bias = (1 << (exponent_bits - 1)) - 1;
                double value = exponent ? std::ldexp(1.0 + std::ldexp(mantissa, -mantissa_bits), exponent - bias) : std::ldexp(mantissa, 1 - bias - mantissa_bits);
                return bits & 128 ? -value : value;
            };
            auto brain = [&](size_t at) { uint32_t word = (brains_of[at] | brains_of[at + 1] << 8) << 16; float value; memcpy(&value, &word, 4); return double(value); };
            for (int row = 0; row < 64; row++)
                for (int column = 0; column < 8; column++) {
                    long sum = 0;
                    double eights = 0, largest = 0, brains = 0;
                    for (int i = 0; i < 32; i++) {
                        uint8_t x = bytes[row * 32 + i], y = bytes[2048 + column * 32 + i];
                        sum += int8_t(x) * int8_t(y);
                        eights -= small(x, 4) * small(y, 5);
                        largest = std::max(largest, std::abs(small(x, 4) * small(y, 5)));
                        if (i % 2 == 0) brains += brain(row * 32 + i) * brain(2048 + column * 32 + i);
                    }
                    int at = row * 8 + column;
                    CHECK(integers[at] == sum);
                    CHECK(std::abs(floats[at] - eights) <= 33 * largest / 8192);  // each is cut to 13 bits below the largest
                    CHECK(std::abs(floats[512 + at] - brains) <= 1e-4 * (1 + std::abs(brains)));
                }
            keep(integers);
            break;
        }
        case 19: {
            std::vector<__half> a, b;
            for (int i = 0; i < 1024; i++) a.push_back(__float2half(given[i]));
            for (int i = 0; i < 256; i++) b.push_back(__float2half(given[5000 + i]));
            auto* data = reinterpret_cast<__half*>(in);
            RAN(cudaMemcpy(data, a.data(), 2048, cudaMemcpyHostToDevice));
            RAN(cudaMemcpy(data + 1024, b.data(), 512, cudaMemcpyHostToDevice));
            product_halves<<<1, 128>>>(data, data + 1024, reinterpret_cast<__half*>(out));
            auto got = fetched(reinterpret_cast<__half*>(out), 1024);
            for (int i = 0; i < 1024; i++) {
                double sum = 0;
                for (int k = 0; k < 16; k++) sum += double(__half2float(a[i % 512 / 8 * 16 + k])) * __half2float(b[i / 512 * 128 + i % 8 * 16 + k]);
                CHECK(std::abs(__half2float(got[i]) - sum) <= 2e-3 * (1 + std::abs(sum)));
            }
            break;
        }
        case 20: case 21: {  // by groups of warps, by warps
            static void (*const KERNELS[2][5])(const uint8_t*, const uint8_t*, float*) = {{group_e4m3, group_e5m2, group_f16, group_bf16, group_tf32}, {warp_e4m3, warp_e5m2, warp_f16, warp_bf16, warp_tf32}};
            auto* data = reinterpret_cast<uint8_t*>(in);
            Wide dice;
            for (int trial = 0; trial < 6; trial++) {
                std::vector<uint8_t> a(2048), b(256);
                std::vector<float> sums(which == 20 ? 512 : 128), all(512);
                for (int kind = 0; kind < 5; kind++) {
                    dice.fill(kind, a); dice.fill(kind, b); dice.fill(trial, all);
                    RAN(cudaMemcpy(data, a.data(), 2048, cudaMemcpyHostToDevice));
                    RAN(cudaMemcpy(data + 2048, b.data(), 256, cudaMemcpyHostToDevice));
                    RAN(cudaMemcpy(out, all.data(), sums.size() * 4, cudaMemcpyHostToDevice));
                    KERNELS[which - 20][kind]<<<1, which == 20 ? 128 : 32>>>(data, data + 2048, out);
                    keep(fetched(out, sums.size()));
                }
            }
            break;
        }
        case 22: {
            made_map<<<1, 64>>>(reinterpret_cast<CUtensorMap*>(out + 1024), out, in);
            auto got = fetched(out, 8 * 32);
            for (int i = 0; i < 8 * 32; i++) {
                int x = 80 + i % 32, y = 15 + i / 32;
                CHECK(got[i] == (x < 100 && y < 20 ? given[y * 104 + x] : 0.0f));
            }
            keep(got);
            break;
        }
        case 23: {  // 19 columns of 2 rows, 32 from one to the next; the array has room for 20
            CUtensorMap map;
            float* whole;
            cuuint64_t sizes[2] = {19, 2}, strides[1] = {128};
            cuuint32_t box[2] = {16, 2};
            RAN(cudaMalloc(&whole, (32 + 20) * sizeof(float)));
            RAN(cudaMemset(whole, 0, (32 + 20) * sizeof(float)));
            CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, whole, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE));
            for (int x = 0; x < 32; x += 16) tensor_tail<<<1, 32>>>(map, x);
            auto got = fetched(whole, 32 + 19);
            // Behind the last column a card writes up to a multiple of 16 bytes.
            for (int i = 0; i < 32 + 19; i++) CHECK(got[i] == (i % 32 < 20 ? i / 32 * 16 + i % 16 + 1.0f : 0.0f));
            keep(got);
            RAN(cudaFree(whole));
            break;
        }
        default: return -1;
    }
    RAN(cudaGetLastError());
    RAN(cudaDeviceSynchronize());
    return 0;
}

static int program(int which) {
    float *out, *in;
    std::vector<float> given(65536);
    for (size_t i = 0; i < given.size(); i++) given[i] = static_cast<float>(static_cast<int>((i * 2654435761u >> 7) % 2001) - 1000) / 512.0f;
    RAN(cudaMalloc(&out, given.size() * sizeof(float)));
    RAN(cudaMalloc(&in, given.size() * sizeof(float)));
    RAN(cudaMemset(out, 0, given.size() * sizeof(float)));
    RAN(cudaMemcpy(in, given.data(), given.size() * sizeof(float), cudaMemcpyHostToDevice));
    digest = 0xcbf29ce484222325ull;
    int wrong = run(which, out, in, given);
    cudaFree(out);
    cudaFree(in);
    return wrong;
}
// Which. Of 1000 more it returns a digest of what that one computed exactly, or its line negated: a card and the emulated
// GPU agree on it.
extern "C" int grader_entry(void** a) {
    int which = *static_cast<int*>(a[0]);
    if (which < 1000) return program(which);
    int wrong = program(which - 1000);
    return wrong ? -wrong : static_cast<int>((digest ^ digest >> 32) & 0x7fffffff);
}
