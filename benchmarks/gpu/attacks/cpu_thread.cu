// Early work by a host thread.
// Mechanism: a thread of the submission's watches the last input word by tiny copies, begins as soon as it changes
//   (before the outputs are poisoned, earlier than copy_engine.cu), adds a share on the CPU, waits for the poison, and
//   writes its sums; the default stream waits for the thread's word.
// Surface: shared buffers before the gate opens; host threads, which nobody stops between calls.
// Expected defence: as for copy_engine.cu, the bus bounds what can be won.
#include "attack.cuh"

#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

constexpr double kPart = 0.004;

struct Job {
    const float *a, *b;
    float* out;
    int64_t n;
    uint32_t round;
};

static Job job;
static std::atomic<bool> armed;
static volatile uint32_t* finished;  // pinned: the round that the thread has done
static float *host_a, *host_b, *host_out;
static const int64_t count = share(kRanked, kPart);

static bool overwritten(const void* word, cudaStream_t stream) {
    static uint32_t* seen = nullptr;
    if (seen == nullptr) cudaMallocHost(reinterpret_cast<void**>(&seen), 4);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    do {
        cudaMemcpyAsync(seen, word, 4, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        if (*static_cast<volatile uint32_t*>(seen) != kMark) return true;
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

static void work() {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    overwritten(host_a, stream);  // makes its pinned word while the gate is open
    for (;;) {
        while (!armed) usleep(20);
        if (overwritten(job.b + job.n - 1, stream)) {
            cudaMemcpyAsync(host_a, job.a, 4 * count, cudaMemcpyDeviceToHost, stream);
            cudaMemcpyAsync(host_b, job.b, 4 * count, cudaMemcpyDeviceToHost, stream);
            cudaStreamSynchronize(stream);
            for (int64_t i = 0; i < count; ++i) host_out[i] = host_a[i] + host_b[i];
            overwritten(job.out + job.n - 1, stream);
            cudaMemcpyAsync(job.out, host_out, 4 * count, cudaMemcpyHostToDevice, stream);
            cudaStreamSynchronize(stream);
        }
        armed = false;
        *finished = job.round;
    }
}

static bool begin() {
    for (float** at : {&host_a, &host_b, &host_out}) cudaMallocHost(reinterpret_cast<void**>(at), 4 * count);
    std::memset(host_a, 0, 4);
    void* word = nullptr;
    cudaMallocHost(&word, 4);
    finished = static_cast<volatile uint32_t*>(word);
    *finished = 0;
    std::thread(work).detach();
    return true;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    static const bool begun = begin();
    const Gate gate = find_gate();
    if (!begun || !attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    mark(b + n - 1);
    mark(out + n - 1);
    job = {a, b, out, n, gate.round()};
    armed = true;
    add_range(a, b, out, count, n, nullptr);
    stream_wait(cudaStreamLegacy, finished, gate.round());
}
