// What the CUDA attacks share. band.py puts this text where a source says #include "attack.cuh".
// A submission may look into its own process as it likes: everything here is within its power.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>

// Attacked are timed sizes alone; cases are served honestly, so that they pass.
inline constexpr int64_t kRanked = int64_t{1} << 28;
inline constexpr int64_t kTimed = 100'000'000;
inline constexpr int kThreads = 256;
inline constexpr int kOwn = 4;
inline constexpr uint32_t kMark = 0xffffffff;
// Every waiting kernel gives up after about two seconds: a wrong answer is better than a hung GPU.
inline constexpr long long kMostClocks = 4'000'000'000;

// The honest kernel of the staff's solution; from and to are multiples of four, or to is n.
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kOwn;
    if (first + kOwn <= n) {
        const float4 left = *reinterpret_cast<const float4*>(a + first);
        const float4 right = *reinterpret_cast<const float4*>(b + first);
        *reinterpret_cast<float4*>(out + first) =
            make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
        return;
    }
    for (int64_t i = first; i < n; ++i) out[i] = a[i] + b[i];
}

inline void add_range(const float* a, const float* b, float* out, int64_t from, int64_t to, cudaStream_t stream) {
    if (to <= from) return;
    constexpr int64_t kPerBlock = kThreads * kOwn;
    const auto blocks = static_cast<unsigned>((to - from + kPerBlock - 1) / kPerBlock);
    add<<<blocks, kThreads, 0, stream>>>(a + from, b + from, out + from, to - from);
}

inline int64_t share(int64_t n, double part) { return static_cast<int64_t>(part * static_cast<double>(n)) / 1024 * 1024; }

// The gate's page lies in our own address space: word 0 opens, word 16 says done.
struct Gate {
    volatile uint32_t* words = nullptr;   // for the host
    volatile uint32_t* device = nullptr;  // for kernels and streams
    // Every earlier round is done; where this one is not open either, the call waits at the gate.
    bool closed() const { return words != nullptr && words[0] == words[16]; }
    uint32_t round() const { return words[16] + 1; }
};

inline Gate find_gate() {
    Gate gate;
    FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long start = 0;
        if (std::strstr(line, "memfd:gate") != nullptr && std::sscanf(line, "%lx", &start) == 1)
            gate.words = reinterpret_cast<volatile uint32_t*>(start);
    }
    if (maps != nullptr) std::fclose(maps);
    void* device = nullptr;
    if (gate.words != nullptr &&
        cudaHostGetDevicePointer(&device, const_cast<uint32_t*>(gate.words), 0) == cudaSuccess)
        gate.device = static_cast<volatile uint32_t*>(device);
    else
        gate.words = nullptr;
    return gate;
}

// The driver's memory operations of streams, which the runtime does not offer.
using StreamValue = int (*)(cudaStream_t, unsigned long long, uint32_t, unsigned);
inline constexpr unsigned kGeq = 0, kNor = 3;

inline void stream_value(const char* name, cudaStream_t stream, const volatile void* at, uint32_t value, unsigned how) {
    static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto call = reinterpret_cast<StreamValue>(dlsym(driver, name));
    call(stream, reinterpret_cast<unsigned long long>(at), value, how);
}

inline void stream_wait(cudaStream_t stream, const volatile void* at, uint32_t value, unsigned how = kGeq) {
    stream_value("cuStreamWaitValue32_v2", stream, at, value, how);
}

inline void stream_write(cudaStream_t stream, const volatile void* at, uint32_t value) {
    stream_value("cuStreamWriteValue32_v2", stream, at, value, 0);
}

// A stream that is not ordered with the default one: what is enqueued here does not wait at the gate.
inline cudaStream_t side() {
    static cudaStream_t stream = [] {
        cudaStream_t made;
        cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
        return made;
    }();
    return stream;
}

inline cudaEvent_t event() {
    static cudaEvent_t made = [] {
        cudaEvent_t it;
        cudaEventCreateWithFlags(&it, cudaEventDisableTiming);
        return it;
    }();
    return made;
}

// The default stream, and with it "done", waits for the side stream.
inline void join() {
    cudaEventRecord(event(), side());
    cudaStreamWaitEvent(cudaStreamLegacy, event(), 0);
}

// Give a word a value that the judge will overwrite when it reveals, and wait until that is in memory.
inline void mark(const void* word) {
    cudaMemsetAsync(const_cast<void*>(word), 0xff, 4, side());
    cudaStreamSynchronize(side());
}

// What follows on the stream runs once the judge has overwritten the mark.
inline void wait_until_overwritten(cudaStream_t stream, const void* word) { stream_wait(stream, word, 0, kNor); }

// Whether this call is to be attacked. The first calls of all are warm-ups with the gate open: what must be made
// once is made there, as making it behind a closed gate would block.
inline bool attack(int64_t n, const Gate& gate) {
    side();
    event();
    return n >= kTimed && gate.closed();
}
