// What programs ask of the CUDA runtime's library, and of its headers. Each entry returns 0, or the line where it was not right.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstring>
#include <cuda/atomic>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(it) do { if (!(it)) return __LINE__; } while (0)
#define RAN(it) CHECK((it) == cudaSuccess)

namespace cg = cooperative_groups;

struct Node { int value; Node* next; };
__managed__ int counter = 3;
__managed__ float table[8];
__constant__ float weights[16];
__device__ int numbers[8];

__global__ void doubles(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = a[i] * 2 + 1;
    if (i < 8) table[i] = i;
    if (i == 0) counter += 1;
}
__global__ void walks(const Node* at, int* out) {
    int sum = 0;
    for (; at; at = at->next) sum += at->value;
    *out = sum;
}
__global__ void adds(float* data, size_t pitch, int width) {
    if (threadIdx.x < width) reinterpret_cast<float*>(reinterpret_cast<char*>(data) + blockIdx.x * pitch)[threadIdx.x] += 1.0f;
}
__global__ void adds_slices(cudaPitchedPtr data, int height) {
    char* row = static_cast<char*>(data.ptr) + (blockIdx.x * data.ysize + blockIdx.y) * data.pitch;
    reinterpret_cast<float*>(row)[threadIdx.x] += blockIdx.x;
}
__global__ void looks(int* out) { out[0] = numbers[2]; out[1] = static_cast<int>(weights[3]); }
struct Shape { __device__ virtual int sides() const = 0; __device__ virtual ~Shape() {} };
struct Polygon : Shape {
    int count;
    __device__ explicit Polygon(int count) : count(count) {}
    __device__ int sides() const override { return count; }
};
__global__ void makes(Shape** shapes) { shapes[threadIdx.x] = new Polygon(threadIdx.x); }
__global__ void asks(Shape** shapes, int* out) {
    out[threadIdx.x] = shapes[threadIdx.x]->sides();
    delete shapes[threadIdx.x];
}
__global__ void asks_for_much(int* out) {
    void* half = malloc(40000);
    void* other = malloc(40000);
    out[0] = half != nullptr && other == nullptr;
    free(half);
}
__global__ void groups(const int* in, int* out) {
    __shared__ int room[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, room, in, sizeof room);
    cg::wait(block);
    auto warp = cg::tiled_partition<32>(block);
    int value = room[threadIdx.x];
    auto third = cg::labeled_partition(warp, threadIdx.x % 3);
    int most = cg::reduce(third, value, cg::greater<int>());
    out[threadIdx.x] = cg::reduce(third, value, cg::plus<int>());
    out[128 + threadIdx.x] = cg::inclusive_scan(warp, value);
    out[256 + threadIdx.x] = most;
}
__global__ void atomics(int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(out[0]), most(out[1]), turn(out[2]);
    sum.fetch_add(2, cuda::memory_order_relaxed);
    most.fetch_max(threadIdx.x);
    int expected = 0;
    if (turn.compare_exchange_strong(expected, 7)) out[3] = 1;
    if (threadIdx.x == 0) out[4] = static_cast<int>(8 * static_cast<float>(__nv_fp8_e4m3(3.3f)));
}
__global__ void pipelined(const float4* in, float4* out) {
    __shared__ float4 room[2][32];
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&room[i][threadIdx.x], &in[32 * i + threadIdx.x], sizeof(float4));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    out[threadIdx.x] = room[0][threadIdx.x];
    __pipeline_wait_prior(0);
    out[32 + threadIdx.x] = room[1][threadIdx.x];
}
void answers(void* to) { *static_cast<int*>(to) = 42; }

static int run(int which) {
    int* room;
    RAN(cudaMalloc(&room, 4096));
    RAN(cudaMemset(room, 0, 4096));
    int host[512] = {};
    cudaStream_t stream;
    RAN(cudaStreamCreate(&stream));
    switch (which) {
        case 0: {  // managed memory, from both sides in turn
            const int n = 3000;
            int* data;
            RAN(cudaMallocManaged(&data, n * sizeof(int)));
            for (int i = 0; i < n; i++) data[i] = i;
            RAN(cudaMemPrefetchAsync(data, n * sizeof(int), cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0));
            doubles<<<(n + 127) / 128, 128>>>(data, n);
            RAN(cudaDeviceSynchronize());
            for (int i = 0; i < n; i++) CHECK(data[i] == 2 * i + 1);
            data[5] = 100;
            doubles<<<(n + 127) / 128, 128>>>(data, n);
            RAN(cudaDeviceSynchronize());
            CHECK(data[5] == 201 && data[6] == 27 && data[n - 1] == 4 * (n - 1) + 3);
            RAN(cudaMemcpy(host, data, 40, cudaMemcpyDefault));
            CHECK(host[6] == 27);
            RAN(cudaMemset(data, 0, 40));
            RAN(cudaDeviceSynchronize());
            CHECK(data[6] == 0 && data[10] == 43);
            cudaPointerAttributes is;
            RAN(cudaPointerGetAttributes(&is, data + 1));
            CHECK(is.type == cudaMemoryTypeManaged && is.hostPointer == data + 1);
            RAN(cudaFree(data));
            break;
        }
        case 1: {  // what is not waited for is not seen
            int* data;
            RAN(cudaMallocManaged(&data, 4));
            *data = 20;
            doubles<<<1, 32>>>(data, 1);
            CHECK(*data == 20);
            RAN(cudaStreamSynchronize(nullptr));
            CHECK(*data == 41);
            RAN(cudaFree(data));
            break;
        }
        case 2: {  // a list of the host's, and variables
            Node* nodes[4];
            Node* head = nullptr;
            for (int i = 0; i < 4; i++) {
                RAN(cudaMallocManaged(&nodes[i], sizeof(Node)));
                *nodes[i] = {10 * i, head};
                head = nodes[i];
            }
            walks<<<1, 1>>>(head, room);
            RAN(cudaMemcpy(host, room, 4, cudaMemcpyDeviceToHost));
            CHECK(host[0] == 60);
            for (auto* it : nodes) RAN(cudaFree(it));
            counter = 10;
            doubles<<<1, 32>>>(room, 1);
            RAN(cudaDeviceSynchronize());
            CHECK(counter == 11 && table[7] == 7.0f);
            int* mapped;
            RAN(cudaHostAlloc(&mapped, 64, cudaHostAllocMapped));
            mapped[3] = 8;
            doubles<<<1, 32>>>(mapped, 16);
            RAN(cudaDeviceSynchronize());
            CHECK(mapped[3] == 17 && mapped[15] == mapped[14]);
            RAN(cudaFreeHost(mapped));
            break;
        }
        case 3: {  // rectangles and boxes
            float* data;
            size_t pitch;
            const int width = 30, height = 20;
            std::vector<float> twos(width * height, 2.0f), back(width * height);
            RAN(cudaMallocPitch(&data, &pitch, width * 4, height));
            RAN(cudaMemcpy2DAsync(data, pitch, twos.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice, stream));
            adds<<<height, 32, 0, stream>>>(data, pitch, width);
            RAN(cudaMemcpy2D(back.data(), width * 4, data, pitch, width * 4, height, cudaMemcpyDeviceToHost));
            for (float it : back) CHECK(it == 3.0f);
            RAN(cudaMemset2D(data, pitch, 0, width * 4, height));
            RAN(cudaFree(data));
            cudaPitchedPtr box;
            cudaExtent size = make_cudaExtent(64, 5, 3);
            RAN(cudaMalloc3D(&box, size));
            RAN(cudaMemset3D(box, 0, size));
            adds_slices<<<dim3(3, 5), 16>>>(box, 5);
            std::vector<float> boxed(16 * 5 * 3);
            cudaMemcpy3DParms copy = {};
            copy.srcPtr = box;
            copy.dstPtr = make_cudaPitchedPtr(boxed.data(), 64, 16, 5);
            copy.extent = size;
            copy.kind = cudaMemcpyDeviceToHost;
            RAN(cudaMemcpy3D(&copy));
            for (int i = 0; i < 240; i++) CHECK(boxed[i] == i / 80);
            RAN(cudaFree(box.ptr));
            break;
        }
        case 4: {  // parts of variables
            float nine = 9;
            int seven = 7;
            RAN(cudaMemcpyToSymbol(weights, &nine, 4, 12));
            RAN(cudaMemcpyToSymbolAsync(numbers, &seven, 4, 8, cudaMemcpyHostToDevice, stream));
            looks<<<1, 1, 0, stream>>>(room);
            RAN(cudaMemcpy(host, room, 8, cudaMemcpyDeviceToHost));
            CHECK(host[0] == 7 && host[1] == 9);
            CHECK(cudaMemcpyToSymbol(numbers, &seven, 4, 32) == cudaErrorInvalidValue);
            cudaGetLastError();
            break;
        }
        case 5: {  // what the device says of itself
            cudaDeviceProp is;
            int count, value, blocks, threads;
            RAN(cudaGetDeviceProperties(&is, 0));
            CHECK(is.major == 9 && is.warpSize == 32 && is.maxThreadsPerBlock == 1024 && is.sharedMemPerBlock == 49152);
            CHECK(is.multiProcessorCount == 132 && is.totalGlobalMem > 0 && is.maxGridSize[1] == 65535 && std::strlen(is.name) > 0);
            CHECK(is.maxThreadsPerMultiProcessor == 2048 && is.sharedMemPerBlockOptin == 232448 && is.managedMemory == 1);
            RAN(cudaGetDeviceCount(&count));
            RAN(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
            CHECK(count == 1 && value == 232448);
            RAN(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, looks));
            CHECK(threads == 1024 && blocks == 264);
            cudaFuncAttributes function;
            RAN(cudaFuncGetAttributes(&function, looks));
            CHECK(function.maxThreadsPerBlock == 1024);
            size_t heap;
            RAN(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
            CHECK(heap == 8 << 20);
            break;
        }
        case 6: {  // pools, functions of the host, and configurations
            void* data;
            cudaMemPool_t pool;
            int answer = 0;
            RAN(cudaMallocAsync(&data, 100, stream));
            RAN(cudaFreeAsync(data, stream));
            RAN(cudaDeviceGetDefaultMemPool(&pool, 0));
            uint64_t all = ~0ull;
            RAN(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
            RAN(cudaLaunchHostFunc(stream, answers, &answer));
            RAN(cudaStreamSynchronize(stream));
            CHECK(answer == 42);
            cudaLaunchConfig_t configuration = {};
            configuration.gridDim = configuration.blockDim = 1;
            RAN(cudaLaunchKernelEx(&configuration, looks, room));
            cudaEvent_t before, after;
            float ms = 0;
            RAN(cudaEventCreate(&before));
            RAN(cudaEventCreate(&after));
            RAN(cudaEventRecord(before));
            looks<<<1, 1>>>(room);
            RAN(cudaEventRecord(after));
            RAN(cudaEventSynchronize(after));
            RAN(cudaEventElapsedTime(&ms, before, after));
            CHECK(ms > 0);
            break;
        }
        case 7: {  // a graph made node by node, changed and launched again
            cudaGraph_t graph;
            cudaGraphExec_t executable;
            cudaGraphNode_t clear, kernel, copy, call;
            int n = 4, answer = 0;
            void* arguments[] = {&room, &n};
            cudaKernelNodeParams what = {};
            what.func = reinterpret_cast<void*>(doubles);
            what.gridDim = 1;
            what.blockDim = 32;
            what.kernelParams = arguments;
            cudaMemsetParams zeros = {room, 0, 0, 4, 4, 1};
            cudaHostNodeParams says = {answers, &answer};
            RAN(cudaGraphCreate(&graph, 0));
            RAN(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zeros));
            RAN(cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &what));
            RAN(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, room, 20, cudaMemcpyDeviceToHost));
            RAN(cudaGraphAddHostNode(&call, graph, &copy, 1, &says));
            RAN(cudaGraphInstantiate(&executable, graph, 0));
            RAN(cudaGraphLaunch(executable, stream));
            RAN(cudaStreamSynchronize(stream));
            CHECK(host[0] == 1 && host[3] == 1 && host[4] == 0 && answer == 42);
            n = 2;
            RAN(cudaGraphExecKernelNodeSetParams(executable, kernel, &what));
            RAN(cudaGraphLaunch(executable, stream));
            RAN(cudaStreamSynchronize(stream));
            CHECK(host[1] == 1 && host[2] == 0);
            RAN(cudaGraphExecDestroy(executable));
            RAN(cudaGraphDestroy(graph));
            break;
        }
        case 8: {  // cooperative groups of a warp's parts
            for (int i = 0; i < 128; i++) host[i] = i * 3 % 31;
            RAN(cudaMemcpy(room, host, 512, cudaMemcpyHostToDevice));
            groups<<<1, 128>>>(room, room + 128);
            RAN(cudaMemcpy(host, room, 2048, cudaMemcpyDeviceToHost));
            for (int t = 0; t < 128; t++) {
                int sum = 0, scan = 0, most = 0;
                for (int i = t / 32 * 32; i < t / 32 * 32 + 32; i++) {
                    if (i <= t) scan += host[i];
                    if (i % 3 != t % 3) continue;
                    sum += host[i];
                    most = host[i] > most ? host[i] : most;
                }
                CHECK(host[128 + t] == sum && host[256 + t] == scan && host[384 + t] == most);
            }
            break;
        }
        case 9: {  // atomics of cuda::, and 8-bit floats
            atomics<<<2, 64>>>(room);
            RAN(cudaMemcpy(host, room, 20, cudaMemcpyDeviceToHost));
            CHECK(host[0] == 256 && host[1] == 63 && host[2] == 7 && host[3] == 1 && host[4] == 26);
            break;
        }
        case 10: {
            float* in = reinterpret_cast<float*>(room);
            float numbers[512];
            for (int i = 0; i < 256; i++) numbers[i] = i;
            RAN(cudaMemcpy(in, numbers, 1024, cudaMemcpyHostToDevice));
            pipelined<<<1, 32>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(in + 256));
            RAN(cudaMemcpy(numbers, in, 2048, cudaMemcpyDeviceToHost));
            for (int i = 0; i < 512; i++) CHECK(numbers[i] == i % 256);
            break;
        }
        case 11: {  // objects that outlive their kernel, and a heap that is too small
            Shape** shapes;
            RAN(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 65536));
            RAN(cudaMalloc(&shapes, 64 * sizeof(Shape*)));
            makes<<<1, 64>>>(shapes);
            asks<<<1, 64>>>(shapes, room);
            RAN(cudaMemcpy(host, room, 256, cudaMemcpyDeviceToHost));
            for (int i = 0; i < 64; i++) CHECK(host[i] == i);
            for (int i = 0; i < 2; i++) asks_for_much<<<1, 1>>>(room);
            RAN(cudaMemcpy(host, room, 4, cudaMemcpyDeviceToHost));
            CHECK(host[0] == 1);
            RAN(cudaFree(shapes));
            break;
        }
        case 12: {  // copies by where pointers lie, whatever they say; a host's pointer in a device's place is refused
            float* other;
            float four[16] = {1, 2, 3, 4}, back[16] = {};
            RAN(cudaMalloc(&other, 64));
            RAN(cudaMemcpy(other, four, 64, cudaMemcpyHostToDevice));
            RAN(cudaMemcpy(room, other, 64, cudaMemcpyHostToDevice));
            RAN(cudaMemcpyToSymbol(weights, room, 64));
            RAN(cudaMemcpyFromSymbol(other, weights, 64));
            RAN(cudaMemcpyAsync(back, other, 64, cudaMemcpyDeviceToHost));
            CHECK(back[0] == 1 && back[3] == 4);
            back[3] = 0;
            RAN(cudaMemcpy(back, other, 64, cudaMemcpyHostToHost));
            CHECK(back[3] == 4);
            CHECK(cudaMemcpy(back, four, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
            CHECK(cudaMemcpy(back, four, 64, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
            CHECK(cudaMemcpy(back, other, 64, static_cast<cudaMemcpyKind>(9)) == cudaErrorInvalidMemcpyDirection);
            cudaGetLastError();
            RAN(cudaFree(other));
            break;
        }
        case 13: {  // memory of the host's own, registered; and calls that change nothing here
            std::vector<int> data(40, 5);
            int *there, value;
            RAN(cudaHostRegister(data.data(), data.size() * sizeof(int), cudaHostRegisterMapped));
            CHECK(cudaHostRegister(data.data(), 8, 0) == cudaErrorHostMemoryAlreadyRegistered);
            RAN(cudaDeviceGetAttribute(&value, cudaDevAttrCanUseHostPointerForRegisteredMem, 0));
            CHECK(value == 0);
            RAN(cudaHostGetDevicePointer(&there, data.data() + 8, 0));
            doubles<<<1, 32>>>(there, 32);
            RAN(cudaMemcpy(host, data.data(), 160, cudaMemcpyHostToHost));
            CHECK(host[7] == 5 && host[8] == 11 && host[39] == 11);
            RAN(cudaDeviceSynchronize());
            CHECK(data[7] == 5 && data[8] == 11 && data[39] == 11);
            data[8] = 1;
            doubles<<<1, 32>>>(there, 1);
            RAN(cudaHostUnregister(data.data()));
            CHECK(data[8] == 3 && data[9] == 11);
            CHECK(cudaHostUnregister(data.data()) == cudaErrorHostMemoryNotRegistered);
            cudaGetLastError();
            RAN(cudaProfilerStart());
            RAN(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
            RAN(cudaProfilerStop());
            break;
        }
        default: return -1;
    }
    RAN(cudaGetLastError());
    RAN(cudaStreamDestroy(stream));
    RAN(cudaFree(room));
    return 0;
}
extern "C" int grader_entry(void** a) { return run(*static_cast<int*>(a[0])); }
