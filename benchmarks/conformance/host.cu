// The host's side: streams, events, graphs, copies, memsets, symbols, attributes and errors.
#include "conformance.cuh"

__device__ int32_t table[16];
static __global__ void plus(int32_t* data, int32_t by) { data[threadIdx.x] += by; }
static __global__ void doubled(int32_t* to, const int32_t* from) { to[threadIdx.x] = from[threadIdx.x] * 2; }
static __global__ void add_table(int32_t* data) { data[threadIdx.x] += table[threadIdx.x % 16]; }
struct Buffer {
    int32_t* it = nullptr;
    Buffer() { cudaMalloc(&it, 4096); cudaMemset(it, 0, 4096); }
    ~Buffer() { cudaFree(it); }
};
HOST(streams, int32_t, "bits", 32) {
    Buffer a, b;
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    plus<<<1, 32, 0, first>>>(a.it, 3);
    cudaStreamSynchronize(first);
    plus<<<1, 32, 0, second>>>(a.it, 4);
    cudaMemcpyAsync(b.it, a.it, 128, cudaMemcpyDeviceToDevice, second);
    cudaMemcpyAsync(out, b.it, 128, cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}
HOST(events, int32_t, "bits", 33) {
    Buffer a, b;
    cudaStream_t first, second;
    cudaEvent_t done, begun;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    cudaEventCreate(&begun);
    cudaDeviceSynchronize();
    cudaEventRecord(begun, first);
    plus<<<1, 32, 0, first>>>(a.it, 5);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    doubled<<<1, 32, 0, second>>>(b.it, a.it);
    cudaStreamSynchronize(second);
    float ms = -1;
    cudaEventSynchronize(done);
    cudaEventElapsedTime(&ms, begun, done);
    cudaMemcpy(out, b.it, 128, cudaMemcpyDeviceToHost);
    out[32] = ms >= 0 && cudaEventQuery(done) == cudaSuccess && cudaStreamQuery(second) == cudaSuccess;
}
HOST(graphs, int32_t, "bits", 32) {
    Buffer a, b;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    plus<<<1, 32, 0, stream>>>(a.it, 7);
    doubled<<<1, 32, 0, stream>>>(b.it, a.it);
    cudaMemcpyAsync(a.it, b.it, 64, cudaMemcpyDeviceToDevice, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(out, a.it, 128, cudaMemcpyDeviceToHost);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
HOST(memsets, uint8_t, "bits", 64) {
    Buffer a;
    cudaMemset(a.it, 0x1ab, 10);
    cudaMemsetAsync(reinterpret_cast<char*>(a.it) + 3, 7, 4, nullptr);
    cudaMemset2D(reinterpret_cast<char*>(a.it) + 16, 8, 9, 3, 5);
    cudaMemcpy(out, a.it, 64, cudaMemcpyDefault);
}
HOST(copies_2d, uint8_t, "bits", 60) {
    uint8_t from[100], *pitched;
    size_t pitch;
    for (int i = 0; i < 100; i++) from[i] = static_cast<uint8_t>(i);
    cudaMallocPitch(reinterpret_cast<void**>(&pitched), &pitch, 10, 6);
    cudaMemcpy2D(pitched, pitch, from, 17, 10, 5, cudaMemcpyHostToDevice);
    cudaMemcpy2D(out, 12, pitched, pitch, 9, 5, cudaMemcpyDeviceToHost);
    cudaFree(pitched);
}
HOST(symbols, int32_t, "bits", 33) {
    Buffer a;
    int32_t host[16];
    for (int i = 0; i < 16; i++) host[i] = i * i;
    cudaMemcpyToSymbol(table, host, sizeof host);
    void* address;
    size_t size;
    cudaGetSymbolAddress(&address, table);
    cudaGetSymbolSize(&size, table);
    plus<<<1, 8>>>(static_cast<int32_t*>(address), 100);
    add_table<<<1, 32>>>(a.it);
    cudaMemcpy(out, a.it, 128, cudaMemcpyDeviceToHost);
    out[32] = static_cast<int32_t>(size);
}
HOST(pinned_memory, int32_t, "bits", 32) {
    Buffer a;
    int32_t* pinned;
    cudaMallocHost(&pinned, 128);
    for (int i = 0; i < 32; i++) pinned[i] = i;
    cudaMemcpyAsync(a.it, pinned, 128, cudaMemcpyHostToDevice);
    plus<<<1, 32>>>(a.it, 1000);
    cudaMemcpyAsync(pinned, a.it, 128, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    memcpy(out, pinned, 128);
    cudaFreeHost(pinned);
}
HOST(async_allocations, int32_t, "bits", 32) {
    int32_t* a;
    cudaMallocAsync(reinterpret_cast<void**>(&a), 128, nullptr);
    cudaMemsetAsync(a, 0, 128, nullptr);
    plus<<<1, 32>>>(a, 5);
    cudaMemcpyAsync(out, a, 128, cudaMemcpyDeviceToHost, nullptr);
    cudaFreeAsync(a, nullptr);
    cudaDeviceSynchronize();
}
HOST(errors, int32_t, "bits", 12) {
    Buffer a;
    plus<<<0, 32>>>(a.it, 1);
    out[0] = cudaGetLastError();
    plus<<<1, 1025>>>(a.it, 1);
    out[1] = cudaPeekAtLastError();
    out[2] = cudaGetLastError();
    out[3] = cudaGetLastError();
    plus<<<1, 32, 60000>>>(a.it, 1);
    out[4] = cudaGetLastError();
    plus<<<dim3(1, 70000), 1>>>(a.it, 1);
    out[5] = cudaGetLastError();
    out[6] = cudaFree(reinterpret_cast<char*>(a.it) + 4);
    cudaGetLastError();
    void* huge;
    out[7] = cudaMalloc(&huge, size_t{1} << 50);
    cudaGetLastError();
    out[8] = cudaSetDevice(-1);
    cudaGetLastError();
    plus<<<1, dim3(1, 1, 65)>>>(a.it, 1);
    out[9] = cudaGetLastError();
    out[10] = cudaFree(nullptr);
    int32_t host[16];
    out[11] = cudaMemcpyToSymbol(table, host, 64, 8);
    cudaGetLastError();
}
HOST(attributes, int32_t, "bits", 6) {
    cudaFuncAttributes of;
    cudaFuncGetAttributes(&of, plus);
    out[0] = of.maxThreadsPerBlock;
    cudaDeviceGetAttribute(out + 1, cudaDevAttrWarpSize, 0);
    cudaDeviceGetAttribute(out + 2, cudaDevAttrMaxThreadsPerBlock, 0);
    cudaDeviceGetAttribute(out + 3, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    cudaDeviceGetAttribute(out + 4, cudaDevAttrMaxRegistersPerBlock, 0);
    cudaDeviceGetAttribute(out + 5, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
}
HOST(properties, int32_t, "bits", 4) {
    cudaDeviceProp of;
    if (cudaGetDeviceProperties(&of, 0) != cudaSuccess) return;
    out[0] = of.warpSize;
    out[1] = of.maxThreadsPerBlock;
    out[2] = static_cast<int32_t>(of.sharedMemPerBlock);
    out[3] = of.maxGridSize[1];
}
HOST(occupancy, int32_t, "bits", 2) {
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, plus, 256, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(out + 1, plus, 1024, 0);
}
HOST(launch_extended, int32_t, "bits", 32) {
    Buffer a;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    int32_t by = 9;
    void* arguments[] = {&a.it, &by};
    cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(plus), arguments);
    cudaLaunchKernel(reinterpret_cast<const void*>(plus), dim3(1), dim3(16), arguments, 0, nullptr);
    cudaMemcpy(out, a.it, 128, cudaMemcpyDeviceToHost);
}
