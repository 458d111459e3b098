// What came with sm_89 and sm_90: barriers in shared memory, clusters, bulk copies, matrices of 8-bit floats, vector atomics.
#include "conformance.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
using conformance::mixed;
static __device__ uint32_t at(const void* it) { return static_cast<uint32_t>(__cvta_generic_to_shared(it)); }
static __device__ void barrier_init(uint64_t* it, uint32_t count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(it)), "r"(count) : "memory"); }
static __device__ uint64_t barrier_arrive(uint64_t* it) { uint64_t state; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(it)) : "memory"); return state; }
static __device__ void barrier_wait(uint64_t* it, uint64_t state) {
    for (uint32_t done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(it)), "l"(state) : "memory");
}
static __device__ void barrier_wait_parity(uint64_t* it, uint32_t parity) {
    for (uint32_t done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(it)), "r"(parity) : "memory");
}
KERNEL(mbarrier_phases, uint32_t, "bits", 1, 64, 64) {
    __shared__ uint64_t barrier;
    __shared__ uint32_t room[64];
    if (threadIdx.x == 0) barrier_init(&barrier, 64);
    __syncthreads();
    uint32_t sum = 0;
    for (int round = 0; round < 4; round++) {
        room[threadIdx.x] = mixed(threadIdx.x + 64 * round);
        barrier_wait(&barrier, barrier_arrive(&barrier));
        sum += room[(threadIdx.x * 5 + round) % 64];
        barrier_wait(&barrier, barrier_arrive(&barrier));
    }
    out[threadIdx.x] = sum;
}
KERNEL(mbarrier_producer, uint32_t, "bits", 1, 64, 32) {
    __shared__ uint64_t full;
    __shared__ uint32_t room[32];
    if (threadIdx.x == 0) barrier_init(&full, 32);
    __syncthreads();
    if (threadIdx.x < 32) { room[threadIdx.x] = mixed(threadIdx.x); barrier_arrive(&full); }
    else { barrier_wait_parity(&full, 0); out[threadIdx.x - 32] = room[63 - threadIdx.x]; }
}
KERNEL(bulk_copy, uint32_t, "bits", 1, 64, 64) {
    __shared__ __align__(16) uint32_t room[64], back[64];
    __shared__ uint64_t barrier;
    out[threadIdx.x] = mixed(threadIdx.x);
    if (threadIdx.x == 0) { barrier_init(&barrier, 1); asm volatile("fence.proxy.async;" ::: "memory"); }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async;" ::: "memory");
        uint64_t state;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 256;" : "=l"(state) : "r"(at(&barrier)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(at(room)), "l"(out), "r"(at(&barrier)) : "memory");
    }
    barrier_wait_parity(&barrier, 0);
    back[threadIdx.x] = room[63 - threadIdx.x] + 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(out), "r"(at(back)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
static __global__ void __cluster_dims__(4, 1, 1) clustered(uint32_t* out) {
    __shared__ uint32_t room[32];
    auto cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank();
    room[threadIdx.x] = mixed(blockIdx.x * 32 + threadIdx.x);
    cluster.sync();
    uint32_t* other = cluster.map_shared_rank(room, (rank + 1) % cluster.num_blocks());
    out[blockIdx.x * 32 + threadIdx.x] = other[31 - threadIdx.x] + rank * 1000 + cluster.num_blocks();
    cluster.sync();
}
LAUNCHED(cluster_shared_memory, uint32_t, "bits", 8 * 32, (clustered<<<8, 32>>>(out)))
static __global__ void __cluster_dims__(2, 2, 1) cluster_numbers(uint32_t* out) {
    uint32_t r[5];
    asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank; mov.u32 %2, %%cluster_ctaid.y; mov.u32 %3, %%clusterid.x; mov.u32 %4, %%nclusterid.x;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]));
    for (int k = 0; k < 5; k++) out[5 * (blockIdx.y * gridDim.x + blockIdx.x) + k] = r[k];
}
LAUNCHED(cluster_registers, uint32_t, "bits", 5 * 16, (cluster_numbers<<<dim3(4, 4), 1>>>(out)))
static __global__ void __cluster_dims__(2, 1, 1) cluster_counts(uint32_t* out) {
    __shared__ uint32_t bins[8];
    auto cluster = cg::this_cluster();
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    cluster.sync();
    uint32_t value = mixed(blockIdx.x * 64 + threadIdx.x);
    atomicAdd(cluster.map_shared_rank(bins, value % 2) + value / 2 % 8, 1);
    cluster.sync();
    if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = bins[threadIdx.x];
}
LAUNCHED(cluster_atomics, uint32_t, "bits", 16, (cluster_counts<<<2, 64>>>(out)))
KERNEL(elect_one, uint32_t, "bits", 1, 64, 64) {
    uint32_t chosen;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
    out[threadIdx.x] = __popc(__ballot_sync(~0u, chosen));
}
KERNEL(store_matrix, uint32_t, "bits", 1, 32, 128) {
    __shared__ __align__(16) uint32_t room[128];
    uint32_t m = mixed(threadIdx.x);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(at(room + 4 * threadIdx.x)), "r"(m), "r"(m + 1), "r"(m + 2), "r"(m + 3) : "memory");
    __syncwarp();
    for (int k = 0; k < 4; k++) out[4 * threadIdx.x + k] = room[4 * threadIdx.x + k];
}
// Every byte is one of 0, 1, 2, -1, 0.5: products and sums are exact.
static __device__ uint32_t bytes(int i, const uint8_t* of) { uint32_t m = mixed(i); return of[m % 5] | of[m / 5 % 5] << 8 | of[m / 25 % 5] << 16 | static_cast<uint32_t>(of[m / 125 % 5]) << 24; }
#define MMA_FP8(name, type, ...) \
    KERNEL(name, float, "bits", 1, 32, 128) { \
        const uint8_t of[5] = __VA_ARGS__; \
        float d[4]; \
        int i = 9 * threadIdx.x; \
        asm("mma.sync.aligned.m16n8k32.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) \
            : "r"(bytes(i, of)), "r"(bytes(i + 1, of)), "r"(bytes(i + 2, of)), "r"(bytes(i + 3, of)), "r"(bytes(i + 4, of)), "r"(bytes(i + 5, of)), "f"(0.5f)); \
        for (int k = 0; k < 4; k++) out[4 * threadIdx.x + k] = d[k]; \
    }
MMA_FP8(mma_m16n8k32_e4m3, "e4m3", {0x00, 0x38, 0x40, 0xb8, 0x30})
MMA_FP8(mma_m16n8k32_e5m2, "e5m2", {0x00, 0x3c, 0x40, 0xbc, 0x38})
KERNEL(atomic_vectors, float, "bits", 1, 64, 8) {
    float a, b;
    asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};" : "=f"(a), "=f"(b) : "l"(out + 2 * (threadIdx.x % 4)), "f"(threadIdx.x * 0.5f), "f"(-1.0f) : "memory");
}
KERNEL(add_mul_bf16x2, uint32_t, "bits", 1, 64, 64) {
    uint32_t a = mixed(threadIdx.x) & 0xbfffbfff, b = mixed(threadIdx.x + 99) & 0xbfffbfff, r, s;
    asm("add.bf16x2 %0, %2, %3; mul.rn.bf16x2 %1, %2, %3;" : "=r"(r), "=r"(s) : "r"(a), "r"(b));
    out[threadIdx.x] = r ^ s << 1;
}
