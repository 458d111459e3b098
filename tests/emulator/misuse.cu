// Planted faults of host code, an entry each, and right ones that look alike. What is expected of each stands behind
// "FAULT:" or "RIGHT" in the line that is to be named.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

__constant__ float weights[8];
__device__ float total;

__global__ void doubled(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i];  // LINE: kernel
}
__global__ void overwrites(float* where) { where[threadIdx.x] = 1.0f; }  // LINE: overwrites
__global__ void sums(float* out, const float* in) {
    extern __shared__ float room[];
    room[threadIdx.x] = in[threadIdx.x];  // LINE: room
    __syncthreads();
    out[threadIdx.x] = room[threadIdx.x];
}
__global__ void follows(float** links, float* out) { out[threadIdx.x] = links[0][threadIdx.x]; }  // LINE: follows
__launch_bounds__(64) __global__ void few(float* out) { out[threadIdx.x] = 0.0f; }

static float* room_for(int n) {
    float* made = nullptr;
    cudaMalloc(&made, n * sizeof(float));
    return made;
}

static int used_after_free(float* out, float* in, int n) {  // FAULT: use_after_free kernel
    float* scratch = room_for(n);
    cudaFree(scratch);
    doubled<<<1, n>>>(out, scratch, n);
    return cudaDeviceSynchronize();
}
static int written_after_free(float* out, float* in, int n) {  // FAULT: use_after_free overwrites
    float* scratch = room_for(n);
    cudaFree(scratch);
    overwrites<<<1, 8>>>(scratch + 8);
    return cudaDeviceSynchronize();
}
static int freed_behind_a_pointer(float* out, float* in, int n) {  // FAULT: use_after_free follows
    float** links;
    float* scratch = room_for(n);
    cudaMalloc(&links, sizeof(float*));
    cudaMemcpy(links, &scratch, sizeof scratch, cudaMemcpyHostToDevice);
    cudaMemset(scratch, 0, n * sizeof(float));
    cudaFree(scratch);
    follows<<<1, 8>>>(links, out);
    return cudaDeviceSynchronize();
}
static int freed_twice(float* out, float* in, int n) {
    float* scratch = room_for(n);
    cudaFree(scratch);
    return cudaFree(scratch);  // FAULT: double_free
}
static int freed_inside(float* out, float* in, int n) {
    float* scratch = room_for(n);
    cudaFree(scratch + 4);  // FAULT: bad_free
    return cudaGetLastError();
}
static int freed_argument(float* out, float* in, int n) {
    cudaFree(in);  // FAULT: bad_free
    return cudaGetLastError();
}
static int freed_host_memory(float* out, float* in, int n) {
    std::vector<float> host(n);
    cudaFree(host.data());  // FAULT: bad_free
    return cudaGetLastError();
}
static int pointer_of_the_host(float* out, float* in, int n) {  // FAULT: out_of_bounds kernel
    std::vector<float> host(n, 1.0f);
    doubled<<<1, n>>>(out, host.data(), n);
    return cudaDeviceSynchronize();
}
static int pointer_that_is_null(float* out, float* in, int n) {  // FAULT: out_of_bounds kernel
    doubled<<<1, n>>>(out, nullptr, n);
    return cudaDeviceSynchronize();
}
static int scratch_that_nobody_set(float* out, float* in, int n) {  // FAULT: unwritten kernel
    float* scratch = room_for(n);
    doubled<<<1, n>>>(out, scratch, n);
    int code = cudaDeviceSynchronize();
    cudaFree(scratch);
    return code;
}
static int other_stream_not_waited_for(float* out, float* in, int n) {  // FAULT: unwritten kernel
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    float* scratch = room_for(n);
    doubled<<<1, n, 0, stream>>>(scratch, in, n);
    doubled<<<1, n>>>(out, scratch, n);
    return cudaDeviceSynchronize();
}
static int written_constant(float* out, float* in, int n) {  // FAULT: read_only overwrites
    void* where;
    cudaGetSymbolAddress(&where, weights);
    overwrites<<<1, 8>>>(static_cast<float*>(where));
    return cudaDeviceSynchronize();
}
static int copied_too_much(float* out, float* in, int n) {
    std::vector<float> host(2 * n);
    cudaMemcpy(host.data(), in, 2 * n * sizeof(float), cudaMemcpyDeviceToHost);  // FAULT: bad_copy
    return cudaGetLastError();
}
static int copied_to_the_host_as_a_device(float* out, float* in, int n) {
    std::vector<float> host(n);
    cudaMemcpy(host.data(), in, n * sizeof(float), cudaMemcpyHostToDevice);  // FAULT: bad_copy
    return cudaGetLastError();
}
static int read_on_the_host(float* out, float* in, int n) {
    return in[n - 1] > 1e9f;  // FAULT: device_memory_on_host
}
static int copied_by_memcpy(float* out, float* in, int n) {
    std::vector<float> host(n);
    std::memcpy(out, host.data(), n * sizeof(float));  // FAULT: device_memory_on_host
    return 0;
}
static int set_too_much(float* out, float* in, int n) {
    cudaMemset(out, 0, n * sizeof(float) + 4);  // FAULT: bad_copy
    return cudaGetLastError();
}
static int symbol_too_small(float* out, float* in, int n) {
    float host[16] = {};
    cudaMemcpyToSymbol(weights, host, sizeof host);  // FAULT: bad_copy
    return cudaGetLastError();
}
static int too_many_threads(float* out, float* in, int n) {
    doubled<<<1, 2048>>>(out, in, n);  // FAULT: bad_launch
    return cudaGetLastError();
}
static int no_blocks(float* out, float* in, int n) {
    doubled<<<n / 256, 256>>>(out, in, n);  // FAULT: bad_launch
    return cudaGetLastError();
}
static int more_than_bounds(float* out, float* in, int n) {
    few<<<1, 128>>>(out);  // FAULT: bad_launch
    return cudaGetLastError();
}
static int too_much_shared(float* out, float* in, int n) {
    sums<<<1, n, 60000>>>(out, in);  // FAULT: bad_launch
    return cudaGetLastError();
}
static int dynamic_shared_too_small(float* out, float* in, int n) {  // FAULT: out_of_bounds room
    sums<<<1, n, n / 2 * sizeof(float)>>>(out, in);
    return cudaDeviceSynchronize();
}
static int too_large_together(float* out, float* in, int n) {
    void* arguments[] = {&out, &in, &n};
    cudaLaunchCooperativeKernel(doubled, 5000, 64, arguments);  // FAULT: bad_launch
    return cudaGetLastError();
}

static int right_free(float* out, float* in, int n) {  // RIGHT
    float* scratch = room_for(n);
    doubled<<<1, n>>>(scratch, in, n);
    cudaFree(nullptr);
    cudaFree(scratch);
    doubled<<<1, n>>>(out, in, n);
    return cudaDeviceSynchronize();
}
static int right_streams(float* out, float* in, int n) {  // RIGHT
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    float* scratch = room_for(n);
    doubled<<<1, n, 0, stream>>>(scratch, in, n);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(nullptr, event);
    doubled<<<1, n>>>(out, scratch, n);
    int code = cudaDeviceSynchronize();
    cudaFree(scratch);
    return code;
}
static int right_symbols(float* out, float* in, int n) {  // RIGHT
    float host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    void* where;
    cudaMemcpyToSymbol(weights, host, sizeof host);
    cudaGetSymbolAddress(&where, weights);
    doubled<<<1, 8>>>(out, static_cast<float*>(where), 8);
    return cudaMemcpyToSymbol(total, host, sizeof(float)) || cudaDeviceSynchronize();
}
static int right_direction(float* out, float* in, int n) {  // RIGHT
    cudaMemcpy(out, in, n * sizeof(float), cudaMemcpyHostToDevice);
    return cudaDeviceSynchronize();
}
static int right_shared(float* out, float* in, int n) {  // RIGHT
    cudaFuncSetAttribute(sums, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    sums<<<1, n, 60000>>>(out, in);
    return cudaDeviceSynchronize();
}

using Entry = int (*)(float*, float*, int);
static const Entry entries[] = {
    used_after_free, written_after_free, freed_behind_a_pointer, freed_twice, freed_inside, freed_argument,
    freed_host_memory, pointer_of_the_host, pointer_that_is_null, scratch_that_nobody_set, other_stream_not_waited_for,
    written_constant, copied_too_much, copied_to_the_host_as_a_device, read_on_the_host, copied_by_memcpy,
    set_too_much, symbol_too_small, too_many_threads, no_blocks,
    more_than_bounds, too_much_shared, dynamic_shared_too_small, too_large_together, right_free, right_streams, right_symbols, right_direction, right_shared,
};
// which, out, in, n
extern "C" int grader_entry(void** a) {
    return entries[*static_cast<int*>(a[0])](*static_cast<float**>(a[1]), *static_cast<float**>(a[2]), *static_cast<int*>(a[3]));
}
