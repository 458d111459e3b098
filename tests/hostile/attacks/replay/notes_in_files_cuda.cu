// Leaves the answers for the next submission.
//
// Mechanism: copies the answer to the host and into files under /tmp, /dev/shm and /var/tmp; a second submission
//   reads one of them and computes nothing.
// Surface: a file system that outlives a submission.
// Gain: all answers, from a submission that nobody reads.
// Challenge: twice
// Like: notes_in_files
// Judged: 2
// Box: docker
// Defence: wrong_answer
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <unistd.h>
#include <vector>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

static void honest(const float* x, float* out, int64_t n, cudaStream_t stream = nullptr) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
}

static const char* const kPlaces[] = {"/tmp/hostile-note", "/dev/shm/hostile-note", "/var/tmp/hostile-note"};

// What lay there before this process wrote: the runner lives on between the warm-up and the call.
static std::vector<float> found(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (const char* place : kPlaces) {
        FILE* file = std::fopen(place, "rb");
        if (file == nullptr) continue;
        const bool whole = std::fread(values.data(), 4, values.size(), file) == values.size();
        std::fclose(file);
        if (whole) return values;
    }
    return {};
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    static const std::vector<float> known = found(n);
    if (!known.empty()) {
        cudaMemcpyAsync(out, known.data(), 4 * n, cudaMemcpyHostToDevice, cudaStreamLegacy);
        return;
    }
    float* answer = nullptr;
    std::vector<float> values(static_cast<size_t>(n));
    cudaMalloc(&answer, 4 * n + 4);
    honest(x, answer, n);
    cudaMemcpy(values.data(), answer, 4 * n, cudaMemcpyDeviceToHost);
    cudaFree(answer);
    for (const char* place : kPlaces) {
        FILE* file = std::fopen(place, "wb");
        if (file == nullptr) continue;
        std::fwrite(values.data(), 4, values.size(), file);
        std::fclose(file);
    }
}
