// A kernel of the conformance suite: fixed inputs, a buffer of results, and how a card's results and the emulated GPU's are
// to compare. A rule is
//     bits            each element equal; NaNs are equal whatever their bits
//     ulp N           at most N representable numbers apart
//     absolute E      at most E apart
//     relative E      at most E of the card's result apart
// and several mean that one of them holds. Bounds are NVIDIA's: the tables of the CUDA C++ Programming Guide (mathematical
// functions) and those of the PTX ISA (instructions that end in .approx).
//
// The program prints a line for each kernel: its name, type, rule, CUDA's error and the buffer in hexadecimal.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

namespace conformance {

template <typename T> inline const char* type_name();
template <> inline const char* type_name<uint8_t>() { return "u1"; }
template <> inline const char* type_name<int8_t>() { return "i1"; }
template <> inline const char* type_name<uint16_t>() { return "u2"; }
template <> inline const char* type_name<int16_t>() { return "i2"; }
template <> inline const char* type_name<uint32_t>() { return "u4"; }
template <> inline const char* type_name<int32_t>() { return "i4"; }
template <> inline const char* type_name<uint64_t>() { return "u8"; }
template <> inline const char* type_name<int64_t>() { return "i8"; }
template <> inline const char* type_name<float>() { return "f4"; }
template <> inline const char* type_name<double>() { return "f8"; }

struct Kernel {
    const char *name, *type, *rule;
    size_t bytes;
    void (*launch)(void* out);
    bool fills_host;  // ``out`` is memory of the host
};

inline std::vector<Kernel>& kernels() {
    static std::vector<Kernel> all;
    return all;
}

struct Listed {
    explicit Listed(const Kernel& kernel) { kernels().push_back(kernel); }
};

// Those whose name is in CONFORMANCE_ONLY, all where that is not set.
inline int run_all() {
    const char* only = getenv("CONFORMANCE_ONLY");
    for (const Kernel& it : kernels()) {
        if (only && strcmp(only, it.name)) continue;
        std::vector<uint8_t> host(it.bytes);
        void* device = nullptr;
        if (it.fills_host) {
            it.launch(host.data());
        } else if (cudaMalloc(&device, it.bytes) == cudaSuccess) {
            cudaMemset(device, 0, it.bytes);
            it.launch(device);
        }
        cudaError_t error = cudaGetLastError(), later = cudaDeviceSynchronize();
        if (error == cudaSuccess) error = later;
        if (device) {
            if (error == cudaSuccess) error = cudaMemcpy(host.data(), device, it.bytes, cudaMemcpyDeviceToHost);
            cudaFree(device);
        }
        printf("kernel|%s|%s|%s|%s|", it.name, it.type, it.rule, cudaGetErrorName(error));
        for (uint8_t byte : host) printf("%02x", byte);
        printf("\n");
        fflush(stdout);
        cudaGetLastError();
    }
    return 0;
}

// ---- inputs ----

constexpr int EDGES = 20, PAIRS = 512, VALUES = 256;

__device__ float edges_f32[EDGES] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e-45f, -1e-40f, 1.1754942e-38f, 1.17549435e-38f,
    3.4028235e38f, -3.4028235e38f, 0.5f, 2.5f, -3.5f, 16777217.0f, 2147483648.0f, -65504.0f, 0.1f};
__device__ double edges_f64[EDGES] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 5e-324, -1e-310, 2.225073858507201e-308,
    2.2250738585072014e-308, 1.7976931348623157e308, -1e300, 0.5, 2.5, -3.5, 9007199254740993.0, 9223372036854775808.0, 3.5e38, 0.1};
__device__ uint32_t edges_u32[EDGES] = {0, 1, 2, 3, 31, 32, 33, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0xffff, 0x10000, 0x8000,
    0xff00ff00, 0x12345678, 0xdeadbeef, 0x55555555, 0x00ffff00};
__device__ uint64_t edges_u64[EDGES] = {0, 1, 2, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
    0x8000000000000001, 0xffffffffffffffff, 0xfffffffffffffffe, 0x123456789abcdef0, 0xdeadbeefcafebabe, 0x5555555555555555, 0xffffffff00000000, 3, 33};

inline __host__ __device__ uint32_t mixed(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}
inline __host__ __device__ uint64_t mixed64(uint32_t x) { return static_cast<uint64_t>(mixed(x)) << 32 | mixed(x + 0x9e3779b9u); }

// The number ``i``: an edge of its type, then anything of it.
template <typename T> struct Source;
template <> struct Source<float> { static __device__ float at(int i) { return i < EDGES ? edges_f32[i] : __uint_as_float(mixed(i)); } };
template <> struct Source<double> { static __device__ double at(int i) { return i < EDGES ? edges_f64[i] : __longlong_as_double(static_cast<long long>(mixed64(i))); } };
template <> struct Source<uint32_t> { static __device__ uint32_t at(int i) { return i < EDGES ? edges_u32[i] : mixed(i); } };
template <> struct Source<int32_t> { static __device__ int32_t at(int i) { return static_cast<int32_t>(Source<uint32_t>::at(i)); } };
template <> struct Source<uint64_t> { static __device__ uint64_t at(int i) { return i < EDGES ? edges_u64[i] : mixed64(i); } };
template <> struct Source<int64_t> { static __device__ int64_t at(int i) { return static_cast<int64_t>(Source<uint64_t>::at(i)); } };
template <> struct Source<uint16_t> { static __device__ uint16_t at(int i) { return static_cast<uint16_t>(Source<uint32_t>::at(i)); } };
template <> struct Source<int16_t> { static __device__ int16_t at(int i) { return static_cast<int16_t>(Source<uint32_t>::at(i)); } };
template <> struct Source<uint8_t> { static __device__ uint8_t at(int i) { return static_cast<uint8_t>(Source<uint32_t>::at(i)); } };
template <> struct Source<int8_t> { static __device__ int8_t at(int i) { return static_cast<int8_t>(Source<uint32_t>::at(i)); } };

// The operands of element ``i``: every edge with every edge, then anything.
template <typename T> __device__ T first_of(int i) { return Source<T>::at(i < EDGES * EDGES ? i / EDGES : 2 * i); }
template <typename T> __device__ T second_of(int i) { return Source<T>::at(i < EDGES * EDGES ? i % EDGES : 2 * i + 1); }
template <typename T> __device__ T third_of(int i) { return Source<T>::at(i < EDGES * EDGES ? (7 * i + i / EDGES) % EDGES : i + 5000); }

}  // namespace conformance

// A kernel of the suite: its body follows. ``out``: ``count`` elements of ``type``.
#define LAUNCHED(name, type, rule, count, ...) \
    static void launch_##name(void* to) { type* out = static_cast<type*>(to); __VA_ARGS__; } \
    static const conformance::Listed listed_##name({#name, conformance::type_name<type>(), rule, (count) * sizeof(type), launch_##name, false});
#define KERNEL(name, type, rule, blocks, threads, count) \
    static __global__ void name(type* out); \
    LAUNCHED(name, type, rule, count, name<<<blocks, threads>>>(out)) \
    static __global__ void name(type* out)
// Not of a kernel but of the host's calls: ``out`` is the host's.
#define HOST(name, type, rule, count) \
    static void filled_##name(type* out); \
    static void launch_##name(void* to) { filled_##name(static_cast<type*>(to)); } \
    static const conformance::Listed listed_##name({#name, conformance::type_name<type>(), rule, (count) * sizeof(type), launch_##name, true}); \
    static void filled_##name(type* out)
// R from operands a, b and c of T, an element a thread.
#define ELEMENTS(name, R, rule, count, ...) \
    KERNEL(name, R, rule, ((count) + 127) / 128, 128, count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= (count)) return; __VA_ARGS__ }
#define UNARY(name, T, R, rule, ...) \
    ELEMENTS(name, R, rule, conformance::VALUES, T a = conformance::Source<T>::at(i); out[i] = (__VA_ARGS__);)
#define BINARY(name, T, R, rule, ...) \
    ELEMENTS(name, R, rule, conformance::PAIRS, T a = conformance::first_of<T>(i); T b = conformance::second_of<T>(i); out[i] = (__VA_ARGS__);)
#define TERNARY(name, T, R, rule, ...) \
    ELEMENTS(name, R, rule, conformance::PAIRS, T a = conformance::first_of<T>(i); T b = conformance::second_of<T>(i); \
             T c = conformance::third_of<T>(i); out[i] = (__VA_ARGS__);)
// ``a``: 256 values from low to high.
#define SWEEP(name, T, rule, low, high, ...) \
    ELEMENTS(name, T, rule, 256, T a = static_cast<T>(low) + (static_cast<T>(high) - static_cast<T>(low)) * static_cast<T>(i) / static_cast<T>(255); \
             out[i] = (__VA_ARGS__);)
// One instruction of PTX as a function. ``d``, ``a``..: constraints as asm has them.
#define PTX1(name, R, d, T, x, text) \
    static __device__ __forceinline__ R name(T a) { R r; asm(text : "=" d(r) : x(a)); return r; }
#define PTX2(name, R, d, T, x, U, y, text) \
    static __device__ __forceinline__ R name(T a, U b) { R r; asm(text : "=" d(r) : x(a), y(b)); return r; }
#define PTX3(name, R, d, T, x, U, y, V, z, text) \
    static __device__ __forceinline__ R name(T a, U b, V c) { R r; asm(text : "=" d(r) : x(a), y(b), z(c)); return r; }

int main() { return conformance::run_all(); }
extern "C" int grader_entry(void**) { return conformance::run_all(); }
