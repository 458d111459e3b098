// Tensor cores: wmma and mma.sync of each type and shape. Small integers are exact in every type, so order does not show and
// the bits must be equal. Where it shows, products of float16 are of positive numbers and the bound is relative: PTX ISA,
// "accumulation is performed with at least single precision", in an order that it leaves open.
#include "conformance.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
using conformance::mixed;
static __device__ int small(int i) { return static_cast<int>(mixed(i) % 17) - 8; }
static __device__ uint32_t halves(float a, float b) { __half2 it = __floats2half2_rn(a, b); return *reinterpret_cast<uint32_t*>(&it); }
static __device__ uint32_t bhalves(float a, float b) { __nv_bfloat162 it = __floats2bfloat162_rn(a, b); return *reinterpret_cast<uint32_t*>(&it); }

#define WMMA(name, M, N, K, T, stored, A_LAYOUT, B_LAYOUT, C, count, make) \
    KERNEL(name, C, "bits", 1, 32, count) { \
        __shared__ __align__(32) stored a[M * K], b[K * N]; \
        for (int i = threadIdx.x; i < M * K; i += 32) a[i] = make(small(i)); \
        for (int i = threadIdx.x; i < K * N; i += 32) b[i] = make(small(i + 777)); \
        __syncthreads(); \
        wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::A_LAYOUT> fa; \
        wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::B_LAYOUT> fb; \
        wmma::fragment<wmma::accumulator, M, N, K, C> fc; \
        wmma::fill_fragment(fc, static_cast<C>(3)); \
        wmma::load_matrix_sync(fa, a, std::is_same<wmma::A_LAYOUT, wmma::row_major>::value ? K : M); \
        wmma::load_matrix_sync(fb, b, std::is_same<wmma::B_LAYOUT, wmma::row_major>::value ? N : K); \
        wmma::mma_sync(fc, fa, fb, fc); \
        wmma::mma_sync(fc, fa, fb, fc); \
        wmma::store_matrix_sync(out, fc, N, wmma::mem_row_major); \
    }
WMMA(wmma_f16_16x16x16, 16, 16, 16, __half, __half, row_major, col_major, float, 256, __int2half_rn)
WMMA(wmma_f16_32x8x16, 32, 8, 16, __half, __half, col_major, row_major, float, 256, __int2half_rn)
WMMA(wmma_f16_8x32x16, 8, 32, 16, __half, __half, row_major, row_major, float, 256, __int2half_rn)
WMMA(wmma_bf16_16x16x16, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, row_major, row_major, float, 256, __int2bfloat16_rn)
WMMA(wmma_tf32_16x16x8, 16, 16, 8, wmma::precision::tf32, float, row_major, col_major, float, 256, static_cast<float>)
WMMA(wmma_f64_8x8x4, 8, 8, 4, double, double, row_major, col_major, double, 64, static_cast<double>)
WMMA(wmma_s8_16x16x16, 16, 16, 16, signed char, signed char, row_major, col_major, int, 256, static_cast<signed char>)
WMMA(wmma_u8_32x8x16, 32, 8, 16, unsigned char, unsigned char, row_major, col_major, int, 256, static_cast<unsigned char>)
KERNEL(wmma_f16_accumulator, float, "bits", 1, 32, 256) {
    __shared__ __align__(32) __half a[256], b[256], c[256];
    for (int i = threadIdx.x; i < 256; i += 32) { a[i] = __int2half_rn(small(i)); b[i] = __int2half_rn(small(i + 99)); }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> fc;
    wmma::fill_fragment(fc, __int2half_rn(2));
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = __hmul(fc.x[i], __int2half_rn(2));
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 32) out[i] = __half2float(c[i]);
}

#define LANE int lane = threadIdx.x
// What each lane gives is of its number alone; a fragment's layout shows in what comes out.
KERNEL(mma_m16n8k8_f16, float, "bits", 1, 32, 128) {
    LANE; float d[4];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%8,%8};" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(halves(small(lane), small(lane + 32))), "r"(halves(small(lane + 64), small(lane + 96))), "r"(halves(small(lane + 128), small(lane + 160))), "f"(1.0f), "f"(float(lane)));
    for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k];
}
#define HALF_INPUT(k) "r"(make(small(lane * 12 + 2 * (k)), small(lane * 12 + 2 * (k) + 1)))
#define MMA_K16(name, type, maker) \
    KERNEL(name, float, "bits", 1, 32, 128) { \
        LANE; float d[4]; auto make = [](float a, float b) { return maker(a, b); }; \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%11,%11};" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) \
            : HALF_INPUT(0), HALF_INPUT(1), HALF_INPUT(2), HALF_INPUT(3), HALF_INPUT(4), HALF_INPUT(5), "f"(1.0f), "f"(float(lane))); \
        for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k]; \
    }
MMA_K16(mma_m16n8k16_f16, "f16", halves)
MMA_K16(mma_m16n8k16_bf16, "bf16", bhalves)
KERNEL(mma_m16n8k16_f16_f16, uint32_t, "bits", 1, 32, 64) {
    LANE; uint32_t d[2]; auto make = [](float a, float b) { return halves(a, b); };
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};" : "=r"(d[0]), "=r"(d[1])
        : HALF_INPUT(0), HALF_INPUT(1), HALF_INPUT(2), HALF_INPUT(3), HALF_INPUT(4), HALF_INPUT(5), "r"(halves(1, 2)), "r"(halves(lane, -lane)));
    out[2 * lane] = d[0]; out[2 * lane + 1] = d[1];
}
#define WORD(i) "r"(__float_as_uint(static_cast<float>(small(lane * 9 + (i)))))
KERNEL(mma_m16n8k4_tf32, float, "bits", 1, 32, 128) {
    LANE; float d[4];
    asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : WORD(0), WORD(1), WORD(2), "f"(0.5f));
    for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k];
}
KERNEL(mma_m16n8k8_tf32, float, "bits", 1, 32, 128) {
    LANE; float d[4];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), "f"(0.5f));
    for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k];
}
KERNEL(mma_m8n8k4_f64, double, "bits", 1, 32, 64) {
    LANE; double d[2];
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};" : "=d"(d[0]), "=d"(d[1]) : "d"(double(small(lane))), "d"(small(lane + 50) * 0.5), "d"(0.25), "d"(double(lane)));
    out[2 * lane] = d[0]; out[2 * lane + 1] = d[1];
}
#define BYTES(i) "r"(mixed(lane * 7 + (i)))
#define MMA_BYTES_K16(name, a, b, more) \
    KERNEL(name, int32_t, "bits", 1, 32, 128) { \
        LANE; int32_t d[4]; \
        asm("mma.sync.aligned.m16n8k16.row.col" more ".s32." a "." b ".s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : BYTES(0), BYTES(1), BYTES(2), "r"(lane)); \
        for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k]; \
    }
#define MMA_BYTES_K32(name, a, b, start) \
    KERNEL(name, int32_t, "bits", 1, 32, 128) { \
        LANE; int32_t d[4]; \
        asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32." a "." b ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};" \
            : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : BYTES(0), BYTES(1), BYTES(2), BYTES(3), BYTES(4), BYTES(5), "r"(start)); \
        for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k]; \
    }
MMA_BYTES_K16(mma_m16n8k16_s8, "s8", "s8", "")
MMA_BYTES_K16(mma_m16n8k16_u8_s8, "u8", "s8", "")
MMA_BYTES_K32(mma_m16n8k32_s8, "s8", "s8", lane * 100)
MMA_BYTES_K32(mma_m16n8k32_u8_saturated, "u8", "u8", INT32_MAX - 1000 * lane)
// Numbers of 4 bits and of 1.
KERNEL(mma_m16n8k32_s4, int32_t, "bits", 1, 32, 128) {
    LANE; int32_t d[4];
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : BYTES(0), BYTES(1), BYTES(2), "r"(lane));
    for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k];
}
KERNEL(mma_m16n8k128_b1, int32_t, "bits", 1, 32, 128) {
    LANE; int32_t d[4];
    asm("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : BYTES(0), BYTES(1), BYTES(2), "r"(lane));
    for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k];
}
static __device__ float part(int i) { return (mixed(i) % 4096 + 1) / 4096.0f; }
#define PART_INPUT(k) "r"(make(part(lane * 12 + 2 * (k)), part(lane * 12 + 2 * (k) + 1)))
#define MMA_PARTS(name, type, maker) \
    KERNEL(name, float, "relative 0x1p-20", 1, 32, 128) { \
        LANE; float d[4]; auto make = [](float a, float b) { return maker(a, b); }; \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) \
            : PART_INPUT(0), PART_INPUT(1), PART_INPUT(2), PART_INPUT(3), PART_INPUT(4), PART_INPUT(5), "f"(0.3f)); \
        for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k]; \
    }
MMA_PARTS(mma_fractions_f16, "f16", halves)
MMA_PARTS(mma_fractions_bf16, "bf16", bhalves)
KERNEL(mma_fractions_tf32, float, "relative 0x1p-20", 1, 32, 128) {
    LANE; float d[4];
    auto in = [&](int k) { uint32_t r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(part(lane * 9 + k))); return r; };
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(in(0)), "r"(in(1)), "r"(in(2)), "r"(in(3)), "r"(in(4)), "r"(in(5)), "f"(0.5f));
    for (int k = 0; k < 4; k++) out[4 * lane + k] = d[k];
}
