// What memory gives a card's kernels: reads and copies by size, by how L2 was left by the call before, by how many
// multiprocessors work and how much each has under way, and by what a thread's neighbours ask for. Each measurement
// prints "name MiB us": the median of several launches, less what an empty launch takes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

constexpr int kRounds = 15, kThreads = 256;
constexpr size_t kMost = 512u << 20;

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

__global__ void nothing() {}

__global__ void spin(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
}

// Flight loads of a thread are under way at a time.
template <typename Word, int Flight>
__global__ void read(const Word* x, float* sink, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (; i + (Flight - 1) * step < n; i += Flight * step) {
        Word words[Flight];
#pragma unroll
        for (int f = 0; f < Flight; ++f) words[f] = x[i + f * step];
#pragma unroll
        for (int f = 0; f < Flight; ++f) sum += *reinterpret_cast<const float*>(&words[f]);
    }
    if (sum == 1.2345e30f) *sink = sum;
}

// A round waits for the one before.
__global__ void read_one_by_one(const float* x, float* sink, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        if ((sum += x[i]) == 1.2345e30f) *sink = sum;
}

__global__ void copy(const float4* x, float4* out, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) out[i] = x[i];
}

// A block an element of the grid; no loop.
__global__ void copy_once(const float4* x, float4* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i];
}

__global__ void write(float4* out, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = make_float4(1, 2, 3, 4);
}

// Each thread reads a row of its own, Flight words at a time.
template <int Flight>
__global__ void read_rows(const float* x, float* sink, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int64_t i = 0; i < cols; i += Flight) {
#pragma unroll
        for (int f = 0; f < Flight; ++f) sum += x[row * cols + i + f];
    }
    if (sum == 1.2345e30f) *sink = sum;
}

static float *x, *out, *sink, *flush;
static size_t l2;
static double empty;

// How a call finds L2: full of lines that are to be written, or of lines that were read.
enum Before { kWritten, kRead };

template <typename Act>
static double median(Before before, Act act) {
    cudaEvent_t start, end;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&end));
    std::vector<float> found;
    for (int round = 0; round < kRounds + 2; ++round) {
        spin<<<1, 1>>>(600000);
        check(cudaMemsetAsync(flush, 0, 4 * l2));
        if (before == kRead)
            for (int again = 0; again < 2; ++again)
                read<float4, 4><<<1056, kThreads>>>(reinterpret_cast<float4*>(flush), sink, 4 * l2 / 16);
        check(cudaEventRecord(start));
        act();
        check(cudaEventRecord(end));
        check(cudaDeviceSynchronize());
        float ms = 0;
        check(cudaEventElapsedTime(&ms, start, end));
        if (round >= 2) found.push_back(1000 * ms);
    }
    std::sort(found.begin(), found.end());
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(end));
    return found[found.size() / 2] - empty;
}

static void say(const char* name, size_t bytes, double us) { std::printf("%s\t%zu\t%.2f\n", name, bytes >> 20, us); }

template <typename Word, int Flight>
static void few(const char* word, int blocks, int threads) {
    const size_t bytes = std::min<size_t>(kMost, static_cast<size_t>(blocks) << 21);
    char name[96];
    std::snprintf(name, sizeof name, "%d blocks of %d, %d %s each", blocks, threads, Flight, word);
    say(name, bytes, median(kRead, [&] {
            read<Word, Flight><<<blocks, threads>>>(reinterpret_cast<Word*>(x), sink, bytes / sizeof(Word));
        }));
}

int main() {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    l2 = properties.l2CacheSize;
    check(cudaMalloc(&x, kMost));
    check(cudaMalloc(&out, kMost));
    check(cudaMalloc(&flush, 4 * l2));
    check(cudaMalloc(&sink, 4));
    check(cudaMemset(x, 0, kMost));
    check(cudaMemset(flush, 0, 4 * l2));
    empty = 0;
    empty = median(kWritten, [] {});
    say("nothing between events", 0, empty);
    for (int blocks : {1, 132, 1056, 8192, 65536, 262144}) {
        char name[64];
        std::snprintf(name, sizeof name, "%d empty blocks of 256", blocks);
        say(name, 0, median(kRead, [&] { nothing<<<blocks, kThreads>>>(); }));
    }
    for (Before before : {kWritten, kRead})
        for (size_t mib : {4, 16, 32, 64, 128, 256, 512}) {
            const char* after = before == kWritten ? "after writes" : "after reads";
            const size_t bytes = mib << 20, n = bytes / 16;
            const auto* from = reinterpret_cast<const float4*>(x);
            auto* to = reinterpret_cast<float4*>(out);
            char name[64];
            std::snprintf(name, sizeof name, "read %s", after);
            say(name, bytes, median(before, [&] { read<float4, 4><<<1056, kThreads>>>(from, sink, n); }));
            std::snprintf(name, sizeof name, "copy %s", after);
            say(name, 2 * bytes, median(before, [&] { copy<<<1056, kThreads>>>(from, to, n); }));
            std::snprintf(name, sizeof name, "copy once %s", after);
            say(name, 2 * bytes, median(before, [&] {
                    copy_once<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(from, to, n);
                }));
            std::snprintf(name, sizeof name, "write %s", after);
            say(name, bytes, median(before, [&] { write<<<1056, kThreads>>>(to, n); }));
        }
    for (int blocks : {1, 32, 66, 132, 264})
        for (int threads : {32, 256, 1024}) {
            few<float, 1>("float", blocks, threads);
            few<float, 4>("float", blocks, threads);
            few<float4, 1>("float4", blocks, threads);
            few<float4, 4>("float4", blocks, threads);
        }
    for (int blocks : {32, 132, 528}) {
        char name[64];
        const size_t bytes = std::min<size_t>(kMost, static_cast<size_t>(blocks) << 21);
        std::snprintf(name, sizeof name, "%d blocks of 512, one by one", blocks);
        say(name, bytes, median(kRead, [&] { read_one_by_one<<<blocks, 512>>>(x, sink, bytes / 4); }));
    }
    for (int64_t rows : {1024, 4096, 16384, 65536})
        for (int64_t cols : {256, 1024, 4096}) {
            const size_t bytes = 4u * rows * cols;
            if (bytes > kMost) continue;
            for (int threads : {32, 256}) {
                char name[96];
                const auto blocks = static_cast<unsigned>(rows / threads);
                std::snprintf(name, sizeof name, "row of %d each, 1, blocks of %d", static_cast<int>(cols), threads);
                say(name, bytes, median(kRead, [&] { read_rows<1><<<blocks, threads>>>(x, sink, rows, cols); }));
                std::snprintf(name, sizeof name, "row of %d each, 8, blocks of %d", static_cast<int>(cols), threads);
                say(name, bytes, median(kRead, [&] { read_rows<8><<<blocks, threads>>>(x, sink, rows, cols); }));
            }
        }
    check(cudaDeviceSynchronize());
}
