// A CUDA graph that replays a recorded answer.
//
// Mechanism: the first call at the timed size computes and keeps the answer, and records a graph that copies it to
//   the output; later calls launch the graph.
// Surface: the same buffers with the same contents again.
// Gain: the time of a copy, however long the work takes.
// Challenge: twice
// Timed: yes
// Defence: wrong_answer
// Emulated: runtime_error
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

static void honest(const float* x, float* out, int64_t n, cudaStream_t stream = nullptr) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
}

// Of a card's board and of the emulated one.
static bool is_timed(int64_t n) { return n == 1'000'000 || n == 4096; }

static float* kept = nullptr;

static cudaGraphExec_t recorded(float* out, int64_t n) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    cudaMemcpyAsync(out, kept, 4 * n, cudaMemcpyDeviceToDevice, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    return made;
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    static cudaGraphExec_t graph = nullptr;
    if (!is_timed(n) || graph == nullptr) honest(x, out, n);
    if (!is_timed(n)) return;
    if (graph != nullptr) {
        cudaGraphLaunch(graph, cudaStreamLegacy);
        return;
    }
    cudaMalloc(&kept, 4 * n);
    cudaMemcpyAsync(kept, out, 4 * n, cudaMemcpyDeviceToDevice, cudaStreamLegacy);
    graph = recorded(out, n);
}
