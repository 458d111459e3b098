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
KERNEL(atomic_vectors_f32, float, "bits", 1, 64, 32) {
    float* to = out + 4 * (threadIdx.x % 8);
    float k = threadIdx.x * 0.25f;
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" :: "l"(to), "f"(k), "f"(-k), "f"(1.0f), "f"(2.0f * k) : "memory");
}
#define ATOMIC_HALVES(name, how, type) \
    KERNEL(name, uint32_t, "bits", 1, 64, 32) { \
        uint32_t* to = out + 4 * (threadIdx.x % 8); \
        uint32_t k = 0x3c003c00 + 0x00010080 * (threadIdx.x % 16); \
        asm volatile("red.relaxed.gpu.global." how ".noftz.v4." type " [%0], {%1, %2, %1, %2};" :: "l"(to), "r"(k), "r"(k ^ 0x80008000) : "memory"); \
    }
ATOMIC_HALVES(atomic_vectors_max_f16x2, "max", "f16x2")
ATOMIC_HALVES(atomic_vectors_min_bf16x2, "min", "bf16x2")
KERNEL(atomic_vectors_f16, uint16_t, "bits", 1, 64, 64) {  // eighths: every sum is exact
    uint16_t* to = out + 8 * (threadIdx.x % 8);
    asm volatile("{ .reg .b16 a, b; mov.b16 a, 0x3000; mov.b16 b, 0xb800; red.relaxed.gpu.global.add.noftz.v8.f16 [%0], {a, b, a, b, b, b, a, a}; }" :: "l"(to) : "memory");
}
// A has half of each chunk; the metadata of lanes that have no part in it says something else.
static __device__ uint32_t places(int i, bool of_two) {
    const uint8_t of[6] = {4, 8, 9, 12, 13, 14};
    uint32_t all = 0;
    for (int k = 0; k < 8; k++) { uint32_t m = mixed(8 * i + k + 1000); all |= static_cast<uint32_t>(of_two ? (m & 1 ? 14 : 4) : of[m % 6]) << 4 * k; }
    return all;
}
static __device__ uint32_t small_halves(int i) { const uint16_t of[5] = {0x0000, 0x3c00, 0x4000, 0xbc00, 0x3800}; uint32_t m = mixed(i); return of[m % 5] | of[m / 5 % 5] << 16; }
static __device__ uint32_t small_bhalves(int i) { const uint16_t of[5] = {0x0000, 0x3f80, 0x4000, 0xbf80, 0x3f00}; uint32_t m = mixed(i); return of[m % 5] | of[m / 5 % 5] << 16; }
static __device__ uint32_t any_halves(int i) { return mixed(i) & 0xbfffbfff; }
static __device__ uint32_t small_floats(int i) { return __float_as_uint(static_cast<float>(mixed(i) % 9) - 4.0f); }
static __device__ uint32_t any_bytes(int i) { return mixed(i); }
static __device__ uint32_t small_e4m3(int i) { const uint8_t of[5] = {0x00, 0x38, 0x40, 0xb8, 0x30}; return bytes(i, of); }
#define SPARSE_2(name, shape, types, D, constraint, make, of_two, selector) \
    KERNEL(name, D, "bits", 1, 32, 128) { \
        D d[4]; \
        int i = 5 * threadIdx.x; \
        asm("mma.sp.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%8,%8,%8}, %9, " selector ";" : "=" constraint(d[0]), "=" constraint(d[1]), "=" constraint(d[2]), "=" constraint(d[3]) \
            : "r"(make(i)), "r"(make(i + 1)), "r"(make(i + 2)), "r"(make(i + 3)), constraint(static_cast<D>(threadIdx.x)), "r"(places(threadIdx.x, of_two))); \
        for (int k = 0; k < 4; k++) out[4 * threadIdx.x + k] = d[k]; \
    }
#define SPARSE_4(name, shape, types, D, constraint, make, of_two, selector) \
    KERNEL(name, D, "bits", 1, 32, 128) { \
        D d[4]; \
        int i = 9 * threadIdx.x; \
        asm("mma.sp.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%12,%12,%12}, %13, " selector ";" : "=" constraint(d[0]), "=" constraint(d[1]), "=" constraint(d[2]), "=" constraint(d[3]) \
            : "r"(make(i)), "r"(make(i + 1)), "r"(make(i + 2)), "r"(make(i + 3)), "r"(make(i + 4)), "r"(make(i + 5)), "r"(make(i + 6)), "r"(make(i + 7)), constraint(static_cast<D>(threadIdx.x)), "r"(places(threadIdx.x, of_two))); \
        for (int k = 0; k < 4; k++) out[4 * threadIdx.x + k] = d[k]; \
    }
SPARSE_2(mma_sp_m16n8k16_f16_0, "m16n8k16", "f32.f16.f16.f32", float, "f", small_halves, false, "0")
SPARSE_2(mma_sp_m16n8k16_f16_3, "m16n8k16", "f32.f16.f16.f32", float, "f", small_halves, false, "3")
SPARSE_4(mma_sp_m16n8k32_f16_0, "m16n8k32", "f32.f16.f16.f32", float, "f", small_halves, false, "0")
SPARSE_4(mma_sp_m16n8k32_f16_1, "m16n8k32", "f32.f16.f16.f32", float, "f", small_halves, false, "1")
SPARSE_4(mma_sp_m16n8k32_f16_sums, "m16n8k32", "f32.f16.f16.f32", float, "f", any_halves, false, "0")
SPARSE_4(mma_sp_m16n8k32_bf16, "m16n8k32", "f32.bf16.bf16.f32", float, "f", small_bhalves, false, "1")
SPARSE_2(mma_sp_m16n8k8_tf32, "m16n8k8", "f32.tf32.tf32.f32", float, "f", small_floats, true, "2")
SPARSE_4(mma_sp_m16n8k16_tf32, "m16n8k16", "f32.tf32.tf32.f32", float, "f", small_floats, true, "1")
SPARSE_2(mma_sp_m16n8k32_s8, "m16n8k32", "s32.s8.s8.s32", int32_t, "r", any_bytes, false, "1")
SPARSE_4(mma_sp_m16n8k64_u8_s8, "m16n8k64", "s32.u8.s8.s32", int32_t, "r", any_bytes, false, "0")
SPARSE_2(mma_sp_m16n8k64_s4, "m16n8k64", "s32.s4.s4.s32", int32_t, "r", any_bytes, false, "0")
SPARSE_4(mma_sp_m16n8k128_u4, "m16n8k128", "s32.u4.u4.s32", int32_t, "r", any_bytes, false, "0")
SPARSE_4(mma_sp_m16n8k64_e4m3, "m16n8k64", "f32.e4m3.e4m3.f32", float, "f", small_e4m3, false, "0")
KERNEL(add_mul_bf16x2, uint32_t, "bits", 1, 64, 64) {
    uint32_t a = mixed(threadIdx.x) & 0xbfffbfff, b = mixed(threadIdx.x + 99) & 0xbfffbfff, r, s;
    asm("add.bf16x2 %0, %2, %3; mul.rn.bf16x2 %1, %2, %3;" : "=r"(r), "=r"(s) : "r"(a), "r"(b));
    out[threadIdx.x] = r ^ s << 1;
}
