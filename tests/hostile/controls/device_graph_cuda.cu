// Launches its kernel from a graph.
//
// Looks: like the replay of a recorded answer: a graph, captured at the first call of each size and updated for
//   later ones.
// Challenge: twice
// Timed: yes
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

static void honest(const float* x, float* out, int64_t n, cudaStream_t stream = nullptr) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
}

#include <map>
#include <tuple>

extern "C" void solve(const float* x, float* out, int64_t n) {
    static std::map<std::tuple<const float*, float*, int64_t>, cudaGraphExec_t> graphs;
    if (n == 0) return;
    auto& made = graphs[{x, out, n}];
    if (made == nullptr) {
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        honest(x, out, n, stream);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&made, graph, 0);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
    cudaGraphLaunch(made, cudaStreamLegacy);
}
