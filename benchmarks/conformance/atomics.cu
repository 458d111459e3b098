// Atomics of every width, operation and scope, in global and shared memory. Sums of floats are exact, so no order shows.
#include "conformance.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace conformance {
template <> inline const char* type_name<unsigned long long>() { return "u8"; }
template <> inline const char* type_name<long long>() { return "i8"; }
}

using conformance::mixed;
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x

// 4 blocks of 64 threads change 8 numbers.
#define INTEGERS(name, T, first, ...) \
    static __global__ void start_##name(T* out) { out[threadIdx.x] = first; } \
    static __global__ void change_##name(T* out) { INDEX; T* at = out + i % 8; T value = static_cast<T>(conformance::mixed64(i)); __VA_ARGS__; } \
    LAUNCHED(name, T, "bits", 8, start_##name<<<1, 8>>>(out); change_##name<<<4, 64>>>(out))
INTEGERS(atomic_add_s32, int32_t, 5, atomicAdd(at, value))
INTEGERS(atomic_add_u32, uint32_t, 5, atomicAdd(at, value))
INTEGERS(atomic_sub_u32, uint32_t, 5, atomicSub(at, value))
INTEGERS(atomic_min_s32, int32_t, 5, atomicMin(at, value))
INTEGERS(atomic_max_u32, uint32_t, 5, atomicMax(at, value))
INTEGERS(atomic_and_b32, uint32_t, 0xffffffff, atomicAnd(at, value | 0x0ff00ff0u))
INTEGERS(atomic_or_b32, uint32_t, 0, atomicOr(at, value & 0x01010101u << i % 8))
INTEGERS(atomic_xor_b32, uint32_t, 1, atomicXor(at, value))
INTEGERS(atomic_inc_u32, uint32_t, 3, atomicInc(at, 17))
INTEGERS(atomic_dec_u32, uint32_t, 3, atomicDec(at, 17))
INTEGERS(atomic_exch_b32, uint32_t, 3, atomicExch(at, 7u + i % 8))
INTEGERS(atomic_add_u64, unsigned long long, 5, atomicAdd(at, value))
INTEGERS(atomic_min_s64, long long, 5, atomicMin(at, value))
INTEGERS(atomic_max_u64, unsigned long long, 5, atomicMax(at, value))
INTEGERS(atomic_logic_b64, unsigned long long, 5, atomicXor(at, value))
INTEGERS(atomic_and_or_b64, unsigned long long, 0, atomicOr(at, 1ull << i / 8 % 32); if (i < 8) atomicAnd(at + 0, ~0ull))
INTEGERS(atomic_exch_b64, unsigned long long, 3, atomicExch(at, 7ull << 40 | i % 8))
INTEGERS(atomic_add_f32, float, 0.5f, atomicAdd(at, static_cast<float>(i % 16) * 0.25f - 1))
INTEGERS(atomic_add_f64, double, 0.5, atomicAdd(at, (i % 16) * 0.25 - 1))
INTEGERS(atomic_exch_f32, float, 3, atomicExch(at, 1.5f * (i % 8)))
INTEGERS(atomic_add_block, int32_t, 5, atomicAdd_block(out + blockIdx.x, i))
INTEGERS(atomic_add_system, int32_t, 5, atomicAdd_system(at, i))
INTEGERS(atomic_max_system, int32_t, 5, atomicMax_system(at, i))
INTEGERS(atomic_cas_b32, uint32_t, 0, for (uint32_t old = *at, seen;; old = seen) if ((seen = atomicCAS(at, old, old + 3)) == old) break)
INTEGERS(atomic_cas_b64, unsigned long long, 0, for (unsigned long long old = *at, seen;; old = seen) if ((seen = atomicCAS(at, old, old + (5ull << 33))) == old) break)
INTEGERS(atomic_cas_b16, unsigned short, 0, for (unsigned short old = *at, seen;; old = seen) if ((seen = atomicCAS(at, old, static_cast<unsigned short>(old + 3))) == old) break)
KERNEL(atomic_add_f16, uint16_t, "bits", 1, 64, 8) { INDEX; atomicAdd(reinterpret_cast<__half*>(out) + i % 8, __float2half(i % 4 * 0.5f)); }
KERNEL(atomic_add_f16x2, uint32_t, "bits", 1, 64, 8) { INDEX; atomicAdd(reinterpret_cast<__half2*>(out) + i % 8, __floats2half2_rn(i % 4 * 0.5f, -1.0f)); }
KERNEL(atomic_add_bf16, uint16_t, "bits", 1, 64, 8) { INDEX; atomicAdd(reinterpret_cast<__nv_bfloat16*>(out) + i % 8, __float2bfloat16(i % 4 * 0.5f)); }
KERNEL(atomic_add_bf16x2, uint32_t, "bits", 1, 64, 8) { INDEX; atomicAdd(reinterpret_cast<__nv_bfloat162*>(out) + i % 8, __floats2bfloat162_rn(i % 4 * 0.5f, -1.0f)); }

// What comes back: of numbers that one thread alone changes.
KERNEL(atomic_old_values, uint32_t, "bits", 1, 64, 64 * 11) {
    uint32_t* at = out + 64 * 10 + threadIdx.x;
    uint32_t value = mixed(threadIdx.x);
    *at = threadIdx.x;
    auto keep = [&, k = 0](uint32_t old) mutable { out[64 * k++ + threadIdx.x] = old; };
    keep(atomicAdd(at, value)); keep(atomicSub(at, 3)); keep(atomicMin(at, value)); keep(atomicMax(at, 77)); keep(atomicAnd(at, ~value)); keep(atomicOr(at, value >> 3));
    keep(atomicXor(at, 0xff)); keep(atomicInc(at, value)); keep(atomicDec(at, value)); keep(atomicCAS(at, 12, 13) + atomicExch(at, 9));
}
KERNEL(atomic_shared, uint32_t, "bits", 2, 128, 2 * 16) {
    __shared__ uint32_t counts[8], most[4];
    __shared__ unsigned long long wide[2];
    __shared__ float sums[2];
    if (threadIdx.x < 8) counts[threadIdx.x] = 0;
    if (threadIdx.x < 4) most[threadIdx.x] = 0;
    if (threadIdx.x < 2) { wide[threadIdx.x] = 0; sums[threadIdx.x] = 0; }
    __syncthreads();
    uint32_t value = mixed(blockIdx.x * 1000 + threadIdx.x);
    atomicAdd(&counts[value % 8], 1);
    atomicMax(&most[value % 4], value);
    atomicAdd(&wide[threadIdx.x % 2], static_cast<unsigned long long>(value) << 8);
    atomicAdd(&sums[threadIdx.x % 2], 0.125f * (value % 32));
    __syncthreads();
    uint32_t* to = out + 16 * blockIdx.x;
    if (threadIdx.x < 8) to[threadIdx.x] = counts[threadIdx.x];
    if (threadIdx.x < 4) to[8 + threadIdx.x] = most[threadIdx.x];
    if (threadIdx.x < 2) { to[12 + threadIdx.x] = static_cast<uint32_t>(wide[threadIdx.x] >> 16); to[14 + threadIdx.x] = __float_as_uint(sums[threadIdx.x]); }
}
KERNEL(atomic_orders, uint32_t, "bits", 2, 64, 8) {
    uint32_t r;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 3;" : "=r"(r) : "l"(out) : "memory");
    asm volatile("atom.relaxed.sys.global.max.s32 %0, [%1], %2;" : "=r"(r) : "l"(out + 1), "r"(threadIdx.x) : "memory");
    asm volatile("red.release.cta.global.or.b32 [%0], %1;" :: "l"(out + 2), "r"(1u << threadIdx.x % 32) : "memory");
    asm volatile("red.global.add.u32 [%0], 2;" :: "l"(out + 3) : "memory");
}
// A lock, and a flag that is released and acquired.
KERNEL(atomic_lock, int32_t, "bits", 4, 32, 2) {
    if (threadIdx.x == 0) {
        while (atomicCAS(out, 0, 1) != 0) {}
        __threadfence();
        volatile int32_t* count = out + 1;
        *count = *count + 7;
        __threadfence();
        atomicExch(out, 0);
    }
}
