// Planted faults of what sm_90 does on its own, a kernel each. What is expected of each stands behind "FAULT:" in the line
// that is to be named.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// Macros, so that a line is the kernel's.
#define AT(p) "r"(static_cast<uint32_t>(__cvta_generic_to_shared(p)))
#define INIT(at, count) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::AT(at), "r"(count) : "memory")
#define EXPECT(at, bytes) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::AT(at), "r"(bytes) : "memory")
#define ARRIVE(at) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::AT(at) : "memory")
#define WAIT(at, parity) asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::AT(at), "r"(parity) : "memory")
#define FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define LOAD(to, from, bytes, at) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::AT(to), "l"(from), "r"(bytes), AT(at) : "memory")
#define STORE(to, from, bytes) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), AT(from), "r"(bytes) : "memory")
#define COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define DONE() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

__global__ void no_wait(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 256);
        LOAD(tile, in, 256, &barrier);
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];  // FAULT: async_race
}
__global__ void one_warp_waits(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 256);
        LOAD(tile, in, 256, &barrier);
    }
    __syncthreads();
    if (threadIdx.x < 32) WAIT(&barrier, 0);
    out[threadIdx.x] = tile[threadIdx.x];  // FAULT: async_race
}
__global__ void expects_too_much(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 512);
        LOAD(tile, in, 256, &barrier);
    }
    __syncthreads();
    WAIT(&barrier, 0);  // FAULT: mbarrier_bytes
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void expects_too_little(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 128);
        LOAD(tile, in, 128, &barrier);
        LOAD(tile + 32, in + 32, 128, &barrier);  // FAULT: mbarrier_bytes
    }
    __syncthreads();
    WAIT(&barrier, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void no_proxy_fence(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, tile, 256);  // FAULT: no_proxy_fence
        COMMIT();
        DONE();
    }
}
__global__ void fence_too_early(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    FENCE();
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, tile, 256);  // FAULT: no_proxy_fence
        COMMIT();
        DONE();
    }
}
__global__ void never_initialised(float* out, const float* in) {
    __shared__ uint64_t barrier;
    ARRIVE(&barrier);  // FAULT: mbarrier_uninitialised
    WAIT(&barrier, 0);
    out[threadIdx.x] = in[threadIdx.x];
}
__global__ void initialised_unseen(float* out, const float* in) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 64);
    ARRIVE(&barrier);  // FAULT: warp_race
    WAIT(&barrier, 0);
    out[threadIdx.x] = in[threadIdx.x];
}
__global__ void too_many_arrive(float* out, const float* in) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 65);
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0], 66; }" ::AT(&barrier) : "memory");  // FAULT: mbarrier_overrun
    out[threadIdx.x] = in[threadIdx.x];
}
__global__ void one_never_arrives(float* out, const float* in) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 64);
    __syncthreads();
    if (threadIdx.x != 7) ARRIVE(&barrier);
    WAIT(&barrier, 0);  // FAULT: deadlock
    out[threadIdx.x] = in[threadIdx.x];
}
__global__ void waits_for_the_wrong_phase(float* out, const float* in) {
    __shared__ uint64_t barrier;
    __shared__ float tile[64];
    if (threadIdx.x == 0) INIT(&barrier, 64);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    ARRIVE(&barrier);
    WAIT(&barrier, 1);  // FAULT: deadlock
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void consumer_does_not_wait(float* out, const float* in) {
    __shared__ uint64_t barrier;
    __shared__ float tile[32];
    if (threadIdx.x == 0) INIT(&barrier, 32);
    __syncthreads();
    if (threadIdx.x < 32) {
        tile[threadIdx.x] = in[threadIdx.x];  // FAULT: shared_race
        ARRIVE(&barrier);
    } else {
        out[threadIdx.x] = tile[threadIdx.x - 32];
    }
}
__global__ void stored_then_changed(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, tile, 256);
        COMMIT();
    }
    __syncthreads();
    tile[threadIdx.x] = 0.0f;  // FAULT: async_race
    if (threadIdx.x == 0) DONE();
}
__global__ void loaded_over(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) INIT(&barrier, 1);
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x == 0) {
            EXPECT(&barrier, 256);
            LOAD(tile, in, 256, &barrier);  // FAULT: async_race
        }
        WAIT(&barrier, k & 1);
        out[threadIdx.x] = tile[threadIdx.x ^ 33];
    }
}
__global__ void returns_too_early(float* out, const float* in) {
    __shared__ alignas(16) float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, tile, 256);  // FAULT: bulk_unwaited
        COMMIT();
    }
}
__global__ void misaligned_copy(float* out, const float* in) {
    __shared__ alignas(16) float tile[65];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 256);
        LOAD(tile + 1, in, 256, &barrier);  // FAULT: misaligned
    }
    __syncthreads();
    WAIT(&barrier, 0);
    out[threadIdx.x] = tile[threadIdx.x + 1];
}
__global__ void copies_too_much(float* out, const float* in) {
    __shared__ alignas(16) float tile[256];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        EXPECT(&barrier, 1024);
        LOAD(tile, in, 1024, &barrier);  // FAULT: out_of_bounds
    }
    __syncthreads();
    WAIT(&barrier, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void __cluster_dims__(2, 1, 1) no_cluster_sync(float* out, const float* in) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    cg::cluster_group cluster = cg::this_cluster();
    out[threadIdx.x + 64 * blockIdx.x] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];  // FAULT: shared_race
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) leaves_the_cluster(float* out, const float* in) {
    __shared__ float tile[64];
    cg::cluster_group cluster = cg::this_cluster();
    tile[threadIdx.x] = in[threadIdx.x];
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    float sum = 0.0f;
    for (int i = 0; i < 64; i++) sum += cluster.map_shared_rank(tile, 1)[(threadIdx.x + i) & 63];  // FAULT: cluster_exited
    out[threadIdx.x] = sum;
}
// Products of 64 x 8 along 16 halves.
#define DESCRIBED(p, stride) ((static_cast<uint64_t>(__cvta_generic_to_shared(p)) >> 4 & 0x3fff) | 8ull << 16 | static_cast<uint64_t>((stride) >> 4) << 32)
#define PRODUCT(d, a, b) asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(DESCRIBED(a, 256)), "l"(DESCRIBED(b, 256)))
#define ORDER() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define GROUP() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define GROUPS_DONE() asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")
__global__ void used_before_it_is_there(float* out, const float* in) {
    __shared__ alignas(128) float a[512], b[64];
    for (int i = threadIdx.x; i < 512; i += 64) a[i] = 0.0f;
    b[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    float d[4] = {};
    ORDER();
    PRODUCT(d, a, b);
    GROUP();
    out[threadIdx.x] = d[0];  // FAULT: early_result
    GROUPS_DONE();
}
__global__ void operands_changed_too_early(float* out, const float* in) {
    __shared__ alignas(128) float a[512], b[64];
    for (int i = threadIdx.x; i < 512; i += 64) a[i] = 0.0f;
    b[threadIdx.x] = in[threadIdx.x];
    FENCE();
    __syncthreads();
    float d[4] = {};
    ORDER();
    PRODUCT(d, a, b);
    GROUP();
    b[threadIdx.x] = 0.0f;  // FAULT: async_race
    GROUPS_DONE();
    out[threadIdx.x] = d[0];
}
__global__ void operands_without_fence(float* out, const float* in) {
    __shared__ alignas(128) float a[512], b[64];
    for (int i = threadIdx.x; i < 512; i += 64) a[i] = 0.0f;
    b[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float d[4] = {};
    ORDER();
    PRODUCT(d, a, b);  // FAULT: no_proxy_fence
    GROUP();
    GROUPS_DONE();
    out[threadIdx.x] = d[0];
}
// Of a tensor of 64 columns and 2 rows, tiles of 16 by 2.
__global__ void tile_between_16_bytes(const __grid_constant__ CUtensorMap map, float* out) {
    __shared__ alignas(128) float tile[32];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        INIT(&barrier, 1);
        FENCE();
        EXPECT(&barrier, 128);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::AT(tile), "l"(&map), "r"(2), "r"(0), AT(&barrier) : "memory");  // FAULT: bad_coordinate
    }
    __syncthreads();
    WAIT(&barrier, 0);
    if (threadIdx.x < 32) out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void tile_stored_before_the_tensor(const __grid_constant__ CUtensorMap map, float* out) {
    __shared__ alignas(128) float tile[32];
    if (threadIdx.x < 32) tile[threadIdx.x] = 1.0f;
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0), "r"(-1), AT(tile) : "memory");  // FAULT: bad_coordinate
        COMMIT();
        DONE();
    }
}

// The map says three rows, and the array has two.
__global__ void tensor_larger_than_its_array(const __grid_constant__ CUtensorMap map, float* out) {
    __shared__ alignas(128) float tile[2 * 16];
    if (threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x;
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(48), "r"(1), AT(tile) : "memory");  // FAULT: out_of_bounds
        COMMIT();
        DONE();
    }
}

// The array ends with the tensor's 61st column; a card writes up to a multiple of 16 bytes.
__global__ void tile_cut_off_behind_its_array(const __grid_constant__ CUtensorMap map, float* out) {
    __shared__ alignas(128) float tile[2 * 16];
    if (threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x;
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(48), "r"(1), AT(tile) : "memory");  // FAULT: out_of_bounds
        COMMIT();
        DONE();
    }
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static int with_map(void (*kernel)(CUtensorMap, float*), float* out, unsigned columns, unsigned rows) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult status;
    CUtensorMap map;
    const cuuint64_t sizes[2] = {columns, rows}, strides[1] = {256};
    const cuuint32_t box[2] = {16, 2}, ones[2] = {1, 1};
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &status) != cudaSuccess) return -1;
    if (reinterpret_cast<Encode>(encode)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, out, sizes, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) return -2;
    kernel<<<1, 64>>>(map, out);
    return cudaDeviceSynchronize();
}

using Kernel = void (*)(float*, const float*);
static const Kernel kernels[] = {
    no_wait, one_warp_waits, expects_too_much, expects_too_little, no_proxy_fence, fence_too_early, never_initialised, initialised_unseen,
    too_many_arrive, one_never_arrives, waits_for_the_wrong_phase, consumer_does_not_wait, stored_then_changed, loaded_over, returns_too_early,
    misaligned_copy, copies_too_much, no_cluster_sync, leaves_the_cluster, used_before_it_is_there, operands_changed_too_early, operands_without_fence,
};
static void (*const tile_kernels[])(CUtensorMap, float*) = {tile_between_16_bytes, tile_stored_before_the_tensor, tensor_larger_than_its_array,
                                                            tile_cut_off_behind_its_array};
// which, out, in: one launch of two blocks of 64 threads.
extern "C" int grader_entry(void** a) {
    unsigned which = *static_cast<int*>(a[0]), plain = sizeof kernels / sizeof *kernels;
    if (which == plain + 3) {
        float* exact;
        if (cudaMalloc(&exact, (64 + 61) * sizeof(float)) != cudaSuccess) return -3;
        return with_map(tile_kernels[3], exact, 61, 2);
    }
    if (which >= plain) return with_map(tile_kernels[which - plain], *static_cast<float**>(a[1]), 64, which == plain + 2 ? 3 : 2);
    kernels[which]<<<2, 64>>>(*static_cast<float**>(a[1]), *static_cast<float**>(a[2]));
    return cudaDeviceSynchronize();
}
