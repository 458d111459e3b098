// Memory: widths and vectors, constant, local and shared memory, generic pointers, copies that are late.
#include "conformance.cuh"
#include <cuda_pipeline.h>

using conformance::mixed;
__device__ __align__(16) uint8_t bytes[256];
__device__ int32_t initialised[4] = {3, -1, 4, -1};
__device__ int32_t* pointer_to = &initialised[2];
__constant__ float factors[8] = {1.5f, -2, 3, 0.25f, 5, 6, -7, 8};
__constant__ struct { short a; double b; uint8_t c[5]; } record = {-3, 2.75, {9, 8, 7, 6, 5}};
__constant__ uint32_t filled_by_host[32];

static __global__ void fill() { bytes[threadIdx.x] = static_cast<uint8_t>(mixed(threadIdx.x)); }
#define FROM_BYTES(name, type, count, ...) \
    static __global__ void read_##name(type* out) { int i = threadIdx.x; __VA_ARGS__; } \
    LAUNCHED(name, type, "bits", count, fill<<<1, 256>>>(); read_##name<<<1, 64>>>(out))
FROM_BYTES(load_u8, uint32_t, 64, out[i] = bytes[i * 3])
FROM_BYTES(load_s8, int32_t, 64, out[i] = reinterpret_cast<int8_t*>(bytes)[i * 3])
FROM_BYTES(load_s16, int64_t, 64, out[i] = reinterpret_cast<int16_t*>(bytes)[i])
FROM_BYTES(load_u64, uint64_t, 64, out[i] = reinterpret_cast<uint64_t*>(bytes)[i % 32])
FROM_BYTES(load_v4, uint32_t, 64, uint4 it = reinterpret_cast<uint4*>(bytes)[i % 16]; out[i] = it.x + 3 * it.y + 5 * it.z + 7 * it.w)
FROM_BYTES(load_v2_f64, uint64_t, 64, double2 it = reinterpret_cast<double2*>(bytes)[i % 16]; out[i] = __double_as_longlong(it.x) ^ __double_as_longlong(it.y) >> 1)
FROM_BYTES(load_v2_u16, uint32_t, 64, ushort2 it = reinterpret_cast<ushort2*>(bytes)[i]; out[i] = it.x * 3 + it.y)
FROM_BYTES(load_char4, int32_t, 64, char4 it = reinterpret_cast<char4*>(bytes)[i]; out[i] = it.x + 2 * it.y - 3 * it.z + 4 * it.w)
FROM_BYTES(load_cached, uint32_t, 64, auto* it = reinterpret_cast<uint32_t*>(bytes); out[i] = __ldg(it + i) + 3 * __ldcg(it + 63 - i) + 5 * __ldca(it + i / 2) + 7 * __ldcs(it + i) + 9 * __ldlu(it + i) + 11 * __ldcv(it + i))
FROM_BYTES(load_nc_v4, uint32_t, 64, float4 it = __ldg(reinterpret_cast<const float4*>(bytes) + i % 16); out[i] = __float_as_uint(it.x) ^ __float_as_uint(it.w))
FROM_BYTES(load_volatile, uint32_t, 64, out[i] = reinterpret_cast<volatile uint32_t*>(bytes)[i])
FROM_BYTES(load_orders, uint32_t, 64, uint32_t a, b;
    asm volatile("ld.acquire.gpu.u32 %0, [%2]; ld.relaxed.sys.u32 %1, [%2+4];" : "=r"(a), "=r"(b) : "l"(bytes + 4 * (i % 60)) : "memory"); out[i] = a ^ b << 1)
FROM_BYTES(copy_memory, uint32_t, 64, uint32_t word; memcpy(&word, bytes + i * 3 % 250, 4); out[i] = word)
KERNEL(store_widths, uint8_t, "bits", 1, 32, 32 * 48) {
    uint8_t* to = out + 48 * threadIdx.x;
    uint32_t it = mixed(threadIdx.x);
    *to = static_cast<uint8_t>(it); *reinterpret_cast<uint16_t*>(to + 2) = static_cast<uint16_t>(it >> 3); *reinterpret_cast<uint32_t*>(to + 4) = it; *reinterpret_cast<uint64_t*>(to + 8) = static_cast<uint64_t>(it) * it;
    *reinterpret_cast<uint4*>(to + 16) = make_uint4(it, it + 1, it + 2, it + 3); __stcs(reinterpret_cast<uint2*>(to + 32), make_uint2(it, ~it)); __stcg(reinterpret_cast<uint32_t*>(to + 40), it ^ 5); __stwt(reinterpret_cast<uint32_t*>(to + 44), it ^ 6);
}
KERNEL(constants, float, "bits", 1, 64, 64) { out[threadIdx.x] = factors[threadIdx.x % 8] * factors[mixed(threadIdx.x) % 8] + record.a + static_cast<float>(record.b) + record.c[threadIdx.x % 5]; }
static __global__ void read_filled(uint32_t* out) { out[threadIdx.x] = filled_by_host[31 - threadIdx.x]; }
static void fill_constant(uint32_t* out) {
    uint32_t host[32];
    for (int i = 0; i < 32; i++) host[i] = mixed(i);
    cudaMemcpyToSymbol(filled_by_host, host, sizeof host);
    cudaMemcpyToSymbol(filled_by_host, host, 8, 16);
    read_filled<<<1, 32>>>(out);
}
LAUNCHED(constants_copied, uint32_t, "bits", 32, fill_constant(out))
KERNEL(device_variables, int32_t, "bits", 1, 4, 4) { out[threadIdx.x] = initialised[threadIdx.x] + *pointer_to * 10; }
KERNEL(local_arrays, uint32_t, "bits", 1, 64, 64) {
    uint32_t room[40];
    for (int k = 0; k < 40; k++) room[k] = mixed(threadIdx.x * 40 + k);
    for (int k = 0; k < 200; k++) { uint32_t at = mixed(k + threadIdx.x) % 40; room[at] += room[room[at] % 40] >> 1; }
    uint32_t sum = 0;
    for (int k = 0; k < 40; k++) sum = sum * 31 + room[k];
    out[threadIdx.x] = sum;
}
static __device__ __noinline__ float through(const float* it, int i) { return it[i] * 2; }
KERNEL(generic_pointers, float, "bits", 1, 32, 96) {
    __shared__ float shared[32];
    float local[4] = {1, 2, 3, static_cast<float>(threadIdx.x)};
    shared[threadIdx.x] = threadIdx.x * 0.5f;
    __syncthreads();
    out[threadIdx.x] = through(shared, 31 - threadIdx.x); out[32 + threadIdx.x] = through(local, threadIdx.x % 4); out[64 + threadIdx.x] = through(factors, threadIdx.x % 8);
    if (__isShared(shared) && __isGlobal(out) && __isLocal(local)) out[threadIdx.x] += 100;
}
FROM_BYTES(async_copies, uint32_t, 64, __shared__ __align__(16) uint32_t room[64];
    __pipeline_memcpy_async(room + i, reinterpret_cast<uint32_t*>(bytes) + (63 - i), 4); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); out[i] = room[(i + 1) % 64])
FROM_BYTES(async_copies_wide, uint32_t, 64, __shared__ __align__(16) uint4 room[3][16];
    if (i < 16) { for (int k = 0; k < 3; k++) { __pipeline_memcpy_async(&room[k][i], reinterpret_cast<uint4*>(bytes) + (i + k) % 16, 16); __pipeline_commit(); } __pipeline_wait_prior(1); }
    __syncthreads(); out[i] = room[i % 2][i / 4].y; if (i < 16) __pipeline_wait_prior(0); __syncthreads(); out[i] += room[2][i / 4].z)
FROM_BYTES(async_copies_filled, uint64_t, 64, __shared__ __align__(16) uint64_t room[64];
    __pipeline_memcpy_async(room + i, reinterpret_cast<uint64_t*>(bytes) + i % 32, 8, i % 9); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); out[i] = room[i])
FROM_BYTES(load_matrix, uint32_t, 64 * 4, __shared__ __align__(16) uint16_t room[512]; for (int k = i; k < 512; k += 64) room[k] = static_cast<uint16_t>(mixed(k)); __syncthreads();
    uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(room + 8 * (i % 32) + 256 * (i / 32) % 256)); uint32_t a; uint32_t b; uint32_t c; uint32_t d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
    out[4 * i] = a; out[4 * i + 1] = b; out[4 * i + 2] = c; out[4 * i + 3] = d)
FROM_BYTES(load_matrix_transposed, uint32_t, 64 * 3, __shared__ __align__(16) uint16_t room[256]; for (int k = i; k < 256; k += 64) room[k] = static_cast<uint16_t>(mixed(k)); __syncthreads();
    uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(room + 8 * (i % 32))); uint32_t a; uint32_t b; uint32_t c;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%3]; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%2}, [%3];" : "=r"(a), "=r"(b), "=r"(c) : "r"(at) : "memory");
    out[3 * i] = a; out[3 * i + 1] = b; out[3 * i + 2] = c)
