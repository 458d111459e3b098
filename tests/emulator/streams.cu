// Work in several streams: planted races, an entry each, and right ones that look alike. What is expected of each stands
// behind "FAULT:" or "RIGHT" in the line that is to be named.
#include <cuda_runtime.h>
#include <vector>

__global__ void fills(float* to, const float* from, int n) {
    int i = threadIdx.x;
    if (i < n) to[i] = 2.0f * from[i];  // LINE: fills
}
__global__ void reads(float* to, const float* from, int n) {
    int i = threadIdx.x;
    if (i < n) to[i] = from[n - 1 - i] + 1.0f;  // LINE: reads
}
__global__ void marks(float* to) { *to = 1.0f; }
__global__ void counts(float* to) { atomicAdd(to, 1.0f); }

struct Streams {
    cudaStream_t one, two;
    cudaEvent_t event, other;
    float* tmp;
    Streams(int n, unsigned flags) {
        cudaStreamCreateWithFlags(&one, flags);
        cudaStreamCreateWithFlags(&two, flags);
        cudaEventCreate(&event);
        cudaEventCreate(&other);
        cudaMalloc(&tmp, n * sizeof(float));
        cudaMemset(tmp, 0, n * sizeof(float));
        cudaDeviceSynchronize();
    }
    int ends() {
        int code = cudaDeviceSynchronize();
        cudaFree(tmp);
        cudaStreamDestroy(one);
        cudaStreamDestroy(two);
        cudaEventDestroy(event);
        cudaEventDestroy(other);
        return code;
    }
};

static int no_event(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamDefault);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    return s.ends();
}
static int no_event_and_apart(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamNonBlocking);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    return s.ends();
}
static int default_stream_is_not_waited_for(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamNonBlocking);
    fills<<<1, n>>>(s.tmp, in, n);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    return s.ends();
}
static int event_before_the_work(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamNonBlocking);
    cudaEventRecord(s.event, s.one);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaStreamWaitEvent(s.two, s.event);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    return s.ends();
}
static int waits_for_the_other_stream(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamDefault);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaStreamSynchronize(s.two);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    return s.ends();
}
static int written_while_it_is_read(float* out, float* in, int n) {  // FAULT: stream_race fills
    Streams s(n, cudaStreamDefault);
    reads<<<1, n, 0, s.one>>>(out, s.tmp, n);
    fills<<<1, n, 0, s.two>>>(s.tmp, in, n);
    return s.ends();
}
static int copied_while_it_is_written(float* out, float* in, int n) {
    Streams s(n, cudaStreamDefault);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaMemcpyAsync(out, s.tmp, n * sizeof(float), cudaMemcpyDeviceToDevice, s.two);  // FAULT: stream_race
    return s.ends();
}
static int cleared_in_another_stream(float* out, float* in, int n) {  // FAULT: stream_race fills
    Streams s(n, cudaStreamDefault);
    cudaMemsetAsync(s.tmp, 0, n * sizeof(float), s.one);
    fills<<<1, n, 0, s.two>>>(s.tmp, in, n);
    return s.ends();
}
static int per_thread_and_own(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamDefault);
    fills<<<1, n, 0, cudaStreamPerThread>>>(s.tmp, in, n);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    return s.ends();
}
static void nothing(void*) {}
static int a_callback_orders_its_own_stream(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamDefault);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaLaunchHostFunc(s.one, nothing, nullptr);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    return s.ends();
}
static int launch(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t executable;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    int code = cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return code;
}
static cudaGraphNode_t node(cudaGraph_t graph, const cudaGraphNode_t* after, void (*kernel)(float*, const float*, int), float* to, const float* from, int n) {
    void* arguments[] = {&to, &from, &n};
    cudaKernelNodeParams what = {};
    what.func = reinterpret_cast<void*>(kernel);
    what.gridDim = 1;
    what.blockDim = n;
    what.kernelParams = arguments;
    cudaGraphNode_t made;
    cudaGraphAddKernelNode(&made, graph, after, after != nullptr, &what);
    return made;
}
static int nodes_without_dependency(float* out, float* in, int n) {  // FAULT: stream_race reads
    Streams s(n, cudaStreamDefault);
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    node(graph, nullptr, fills, s.tmp, in, n);
    node(graph, nullptr, reads, out, s.tmp, n);
    return launch(graph, s.one) || s.ends();
}
static int graph_beside_a_stream(float* out, float* in, int n) {  // FAULT: stream_race fills
    Streams s(n, cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    node(graph, nullptr, reads, out, s.tmp, n);
    fills<<<1, n, 0, s.two>>>(s.tmp, in, n);
    return launch(graph, s.one) || s.ends();
}

static int right_event(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamNonBlocking);
    for (int round = 0; round < 3; round++) {
        fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
        cudaEventRecord(s.event, s.one);
        cudaStreamWaitEvent(s.two, s.event);
        reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
        cudaEventRecord(s.other, s.two);
        cudaStreamWaitEvent(s.one, s.other);
    }
    return s.ends();
}
static int right_waits_of_the_host(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamNonBlocking);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaStreamSynchronize(s.one);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    cudaDeviceSynchronize();
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaEventRecord(s.event, s.one);
    cudaEventSynchronize(s.event);
    reads<<<1, n>>>(out, s.tmp, n);
    return s.ends();
}
static int right_default_stream_between(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamDefault);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    marks<<<1, 1>>>(out);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    fills<<<1, n>>>(s.tmp, in, n);
    reads<<<1, n, 0, cudaStreamPerThread>>>(out, s.tmp, n);
    std::vector<float> host(n);
    cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    fills<<<1, n, 0, s.one>>>(s.tmp, host.empty() ? in : in, n);
    return s.ends();
}
static int right_halves(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamNonBlocking);
    int half = n / 2;
    cudaMemcpyAsync(s.tmp, in, half * sizeof(float), cudaMemcpyDeviceToDevice, s.one);
    cudaMemcpyAsync(s.tmp + half, in + half, half * sizeof(float), cudaMemcpyDeviceToDevice, s.two);
    reads<<<1, half, 0, s.one>>>(out, s.tmp, half);
    reads<<<1, half, 0, s.two>>>(out + half, s.tmp + half, half);
    return s.ends();
}
static int right_atomics_and_equal_stores(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamNonBlocking);
    counts<<<2, 64, 0, s.one>>>(s.tmp);
    counts<<<2, 64, 0, s.two>>>(s.tmp);
    marks<<<1, 32, 0, s.one>>>(s.tmp + 1);
    marks<<<1, 32, 0, s.two>>>(s.tmp + 1);
    return s.ends();
}
static int right_memory_in_order(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamNonBlocking);
    float *made, *later;
    cudaMallocAsync(reinterpret_cast<void**>(&made), n * sizeof(float), s.one);
    fills<<<1, n, 0, s.one>>>(made, in, n);
    reads<<<1, n, 0, s.one>>>(out, made, n);
    cudaFreeAsync(made, s.one);
    cudaMallocAsync(reinterpret_cast<void**>(&later), n * sizeof(float), s.two);
    fills<<<1, n, 0, s.two>>>(later, in, n);
    cudaFree(later);
    return s.ends();
}
static int right_captured_fork(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamNonBlocking);
    cudaGraph_t graph;
    float* more;
    cudaMalloc(&more, n * sizeof(float));
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaEventRecord(s.event, s.one);
    cudaStreamWaitEvent(s.two, s.event);
    reads<<<1, n, 0, s.two>>>(more, s.tmp, n);
    reads<<<1, n, 0, s.one>>>(out, s.tmp, n);
    cudaEventRecord(s.other, s.two);
    cudaStreamWaitEvent(s.one, s.other);
    fills<<<1, n, 0, s.one>>>(s.tmp, more, n);
    cudaStreamEndCapture(s.one, &graph);
    int code = launch(graph, s.two);
    cudaFree(more);
    return code || s.ends();
}
static int captured_without_join(float* out, float* in, int n) {  // FAULT: stream_race fills
    Streams s(n, cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
    cudaEventRecord(s.event, s.one);
    cudaStreamWaitEvent(s.two, s.event);
    reads<<<1, n, 0, s.two>>>(out, s.tmp, n);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    cudaEventRecord(s.other, s.two);
    cudaStreamWaitEvent(s.one, s.other);
    cudaStreamEndCapture(s.one, &graph);
    return launch(graph, s.one) || s.ends();
}
static int right_nodes(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamDefault);
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t first = node(graph, nullptr, fills, s.tmp, in, n);
    cudaGraphNode_t second = node(graph, &first, reads, out, s.tmp, n);
    cudaGraphNode_t third = node(graph, nullptr, fills, s.tmp, in, n);
    cudaGraphAddDependencies(graph, &second, &third, nullptr, 1);
    return launch(graph, s.one) || launch(graph, s.two) || s.ends();
}
static int right_refused_captures(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamDefault);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    if (cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) != cudaErrorStreamCaptureUnsupported) return 1;
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
    fills<<<1, n, 0, s.one>>>(s.tmp, in, n);
    reads<<<1, n>>>(out, s.tmp, n);
    if (cudaGetLastError() != cudaErrorStreamCaptureImplicit) return 2;
    if (cudaStreamEndCapture(s.one, &graph) != cudaErrorStreamCaptureInvalidated || graph) return 3;
    if (cudaGraphInstantiate(&executable, graph, 0) != cudaErrorInvalidValue) return 4;
    if (cudaGraphLaunch(nullptr, s.one) != cudaErrorInvalidValue) return 5;
    cudaGetLastError();
    return s.ends();
}
static int right_default_stream_while_another_is_captured(float* out, float* in, int n) {  // RIGHT
    Streams s(n, cudaStreamNonBlocking);
    std::vector<float> got(n), given(n);
    cudaGraph_t graph;
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeRelaxed);
    fills<<<1, n>>>(s.tmp, in, n);
    reads<<<1, n, 0, s.one>>>(out, s.tmp, n);
    cudaMemcpy(got.data(), s.tmp, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(given.data(), in, n * sizeof(float), cudaMemcpyDeviceToHost);
    if (cudaStreamEndCapture(s.one, &graph)) return 1;
    for (int i = 0; i < n; i++)
        if (got[i] != 2.0f * given[i]) return 2;
    return launch(graph, s.one) || s.ends();
}

using Entry = int (*)(float*, float*, int);
static const Entry entries[] = {
    no_event, no_event_and_apart, default_stream_is_not_waited_for, event_before_the_work, waits_for_the_other_stream,
    written_while_it_is_read, copied_while_it_is_written, cleared_in_another_stream, per_thread_and_own,
    a_callback_orders_its_own_stream, nodes_without_dependency, graph_beside_a_stream, captured_without_join,
    right_event, right_waits_of_the_host, right_default_stream_between, right_halves, right_atomics_and_equal_stores,
    right_memory_in_order, right_captured_fork, right_nodes,
    right_refused_captures, right_default_stream_while_another_is_captured,
};
// which, out, in, n
extern "C" int grader_entry(void** a) {
    return entries[*static_cast<int*>(a[0])](*static_cast<float**>(a[1]), *static_cast<float**>(a[2]), *static_cast<int*>(a[3]));
}
