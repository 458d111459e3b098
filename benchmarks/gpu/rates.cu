// Cycles of a card's multiprocessor for what the emulated GPU's model needs constants of. One block on one
// multiprocessor; each measurement prints "name warps cycles": of an instruction of a warp, or of one step of a chain.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

constexpr int kRounds = 256, kFlight = 8, kWords = 4096;

enum Operation { kIncrement, kAdd, kAddReturned, kAddFloat, kLoad, kStore };
const char* const kNames[] = {"increment", "add", "add returned", "add float", "load", "store"};

// places: words of shared memory, [kFlight][32].
template <Operation Which>
__global__ void shared_memory(const int* places, long long* cycles, int* sink, int value) {
    __shared__ int words[kWords];
    for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = 0;
    int at[kFlight], sum = 0;
    for (int f = 0; f < kFlight; ++f) at[f] = places[f * 32 + threadIdx.x % 32];
    __syncthreads();
    const long long begin = clock64();
    for (int round = 0; round < kRounds; ++round) {
#pragma unroll
        for (int f = 0; f < kFlight; ++f) {
            int* word = &words[at[f]];
            if (Which == kIncrement) atomicAdd(word, 1);
            if (Which == kAdd) atomicAdd(word, value);
            if (Which == kAddReturned) sum += atomicAdd(word, value);
            if (Which == kAddFloat) atomicAdd(reinterpret_cast<float*>(word), 1.0f);
            if (Which == kLoad) sum += *static_cast<volatile int*>(word);
            if (Which == kStore) *static_cast<volatile int*>(word) = value;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - begin;
    if (sum == 0x12345678) *sink = sum + words[value];
}

// One thread follows a chain of addresses.
__global__ void chain(const void* const* first, long long* cycles, int* sink, int warm, int steps) {
    const void* const* at = first;
    for (int i = 0; i < warm; ++i) at = static_cast<const void* const*>(*at);
    const long long begin = clock64();
    for (int i = 0; i < steps; ++i) at = static_cast<const void* const*>(*at);
    const long long end = clock64();
    *cycles = end - begin;
    if (at == nullptr) *sink = 1;
}

// Lanes find those with the same value, of so many.
__global__ void matches(long long* cycles, int* sink, int values) {
    int value = threadIdx.x % 32 % values;
    const long long begin = clock64();
    for (int i = 0; i < kRounds; ++i) value += __match_any_sync(0xffffffffu, value) == 0;
    __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - begin;
    if (value == 0x12345678) *sink = value;
}

__global__ void barriers(long long* cycles) {
    const long long begin = clock64();
    for (int i = 0; i < kRounds; ++i) __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - begin;
}

static long long* cycles;
static int *sink, *places;

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

static double taken() {
    long long found = 0;
    check(cudaMemcpy(&found, cycles, sizeof found, cudaMemcpyDeviceToHost));
    return static_cast<double>(found);
}

template <Operation Which>
static void measure(const char* pattern, const std::vector<int>& of_pattern) {
    check(cudaMemcpy(places, of_pattern.data(), of_pattern.size() * sizeof(int), cudaMemcpyHostToDevice));
    for (int warps : {1, 8, 32}) {
        double best = 1e30;
        for (int again = 0; again < 3; ++again) {
            shared_memory<Which><<<1, warps * 32>>>(places, cycles, sink, 1);
            const double now = taken();
            if (now < best) best = now;
        }
        std::printf("%s, %s\t%d\t%.2f\n", kNames[Which], pattern, warps, best / (kRounds * kFlight * warps));
    }
}

static void measure_all(const char* pattern, const std::vector<int>& of_pattern) {
    measure<kIncrement>(pattern, of_pattern);
    measure<kAdd>(pattern, of_pattern);
    measure<kAddReturned>(pattern, of_pattern);
    measure<kAddFloat>(pattern, of_pattern);
    measure<kLoad>(pattern, of_pattern);
    measure<kStore>(pattern, of_pattern);
}

static void follow(const char* name, size_t bytes, size_t stride) {
    const size_t count = bytes / stride;
    std::vector<char> host(bytes);
    void** device = nullptr;
    check(cudaMalloc(&device, bytes));
    uint64_t state = 88172645463325252ull;
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    for (size_t i = count - 1; i > 0; --i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        std::swap(order[i], order[state % (i + 1)]);
    }
    for (size_t i = 0; i < count; ++i)
        *reinterpret_cast<char**>(&host[order[i] * stride]) =
            reinterpret_cast<char*>(device) + order[(i + 1) % count] * stride;
    check(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
    // Once around where it fits into a cache; of the largest, no address is met twice.
    const int all = static_cast<int>(count), steps = all < 4096 ? all : 4096, warm = all <= 32768 ? all : 1;
    const auto* from = reinterpret_cast<const void* const*>(reinterpret_cast<char*>(device) + order[0] * stride);
    chain<<<1, 1>>>(from, cycles, sink, warm, steps);
    std::printf("chain, %s\t1\t%.2f\n", name, taken() / steps);
    check(cudaFree(device));
}

int main() {
    check(cudaMalloc(&cycles, sizeof *cycles));
    check(cudaMalloc(&sink, sizeof *sink));
    check(cudaMalloc(&places, kFlight * 32 * sizeof(int)));
    char name[64];
    for (int ways : {1, 2, 4, 8, 16, 32}) {
        // So many lanes share a bank, each with a word of its own; or share a word.
        std::vector<int> banks(kFlight * 32), words(kFlight * 32);
        for (int i = 0; i < kFlight * 32; ++i) {
            const int lane = i % 32, shift = i / 32;
            banks[i] = (lane / ways + shift) % 32 + lane % ways * 32;
            words[i] = (lane / ways + shift) % 32;
        }
        std::snprintf(name, sizeof name, "%d of a bank", ways);
        measure_all(name, banks);
        std::snprintf(name, sizeof name, "%d of a word", ways);
        measure_all(name, words);
    }
    for (int among : {16, 64, 256, 1024, 4096}) {
        std::vector<int> random(kFlight * 32);
        uint32_t state = 2463534242u;
        for (int& it : random) {
            state ^= state << 13, state ^= state >> 17, state ^= state << 5;
            it = static_cast<int>(state % among);
        }
        std::snprintf(name, sizeof name, "any of %d words", among);
        measure_all(name, random);
    }
    follow("16 KiB", 16 << 10, 128);
    follow("4 MiB", 4 << 20, 128);
    follow("512 MiB", 512 << 20, 4096);
    for (int warps : {1, 4, 8, 16, 32}) {
        barriers<<<1, warps * 32>>>(cycles);
        std::printf("barrier\t%d\t%.2f\n", warps, taken() / kRounds);
    }
    for (int values : {1, 2, 8, 32})
        for (int warps : {1, 8, 32}) {
            matches<<<1, warps * 32>>>(cycles, sink, values);
            std::printf("match, %d values\t%d\t%.2f\n", values, warps, taken() / (kRounds * warps));
        }
    check(cudaDeviceSynchronize());
}
