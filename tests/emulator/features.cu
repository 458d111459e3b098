// What programs use of CUDA beside plain kernels. Each entry returns 0, or the number of the line where it was not right.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(it) do { if (!(it)) return __LINE__; } while (0)
#define RAN(it) CHECK((it) == cudaSuccess)

namespace cg = cooperative_groups;

struct Pair { float a; int8_t b; double c; int16_t d[3]; };
__constant__ float weights[4];
__device__ int counter = 5;
__device__ int table[3] = {7, 8, 9};
__device__ const int* inside = &table[1];

__global__ void by_value(double* out, Pair it, int8_t small) { *out = it.a + it.b + it.c + it.d[2] + small; }
__global__ void weighted(float* out) { out[threadIdx.x] = weights[threadIdx.x % 4] * 2.0f; }
__global__ void count() { atomicAdd(&counter, *inside); }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursive(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 10); }
struct Shape { __device__ virtual int sides() const { return 0; } };
struct Square : Shape { __device__ int sides() const override { return 4; } };
struct Triangle : Shape { __device__ int sides() const override { return 3; } };
__global__ void virtual_calls(int* out) {
    Square square;
    Triangle triangle;
    const Shape* shape = threadIdx.x % 2 ? static_cast<const Shape*>(&square) : &triangle;
    out[threadIdx.x] = shape->sides();
}
__global__ void says(int n) { if (threadIdx.x == 0) printf("n=%d x=%.2f %s %lld%%\n", n, 1.5, "text", 1ll << 40); }
__global__ void spins(int* flag, int* out) {
    if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) {}
    if (threadIdx.x == 1) atomicExch(flag, 1);
    __syncwarp();
    out[threadIdx.x] = 1;
}
__global__ void look_back(volatile int* state, int* out) {
    if (threadIdx.x == 0) {
        while (blockIdx.x > 0 && state[blockIdx.x - 1] == 0) {}
        int before = blockIdx.x ? state[blockIdx.x - 1] : 0;
        __threadfence();
        state[blockIdx.x] = before + 1;
        out[blockIdx.x] = before + 1;
    }
}
__global__ void whole_grid(int* sums, int* out) {
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) sums[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) sum += sums[i];
        out[blockIdx.x] = sum;
    }
}
__global__ void warp_work(unsigned* out) {
    unsigned lane = threadIdx.x % 32, value = lane * 3 + 1;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    unsigned sum = value;
    for (int step = tile.size() / 2; step > 0; step /= 2) sum += tile.shfl_xor(sum, step);
    unsigned odd = __ballot_sync(~0u, lane % 2), same = __match_any_sync(~0u, lane / 4);
    unsigned most = __reduce_max_sync(~0u, value), up = __shfl_up_sync(~0u, value, 1), all = __all_sync(~0u, value > 0);
    out[threadIdx.x] = sum * 7 + odd % 11 + __popc(same) + most + up + all;
}
__global__ void votes(int* out) {
    int some = __syncthreads_count(threadIdx.x < 40), any = __syncthreads_or(threadIdx.x == 63), all = __syncthreads_and(threadIdx.x < 64);
    out[threadIdx.x] = some * 100 + (any ? 10 : 0) + (all ? 1 : 0);
}
__global__ void dynamic(float* out) {
    extern __shared__ float room[];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
__global__ void halves(__half* out, const __half* in) {
    __half2 two = __halves2half2(in[threadIdx.x], __float2half(2.0f));
    out[threadIdx.x] = __low2half(__hfma2(two, two, two)) + __float2half(0.5f);
}
__global__ void switched(int* out) {
    int i = threadIdx.x, r = 0;
    switch (i % 7) {
        case 0: r = 3; break;
        case 1: r = i * 5; break;
        case 2: r = i ^ 9; break;
        case 3: r = i - 1; break;
        case 4: r = i << 2; break;
        case 5: r = -i; break;
        default: r = i * i;
    }
    out[i] = r;
}
__global__ void plus_one(float* data) { data[threadIdx.x] += 1.0f; }

template <typename T>
std::vector<T> fetched(const T* device, size_t count) {
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

// Instructions that programs write themselves, each with a result that only the right one gives.
__device__ uint32_t shared_address(const void* of) {
    uint32_t address;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(of));
    return address;
}
__global__ void inline_ptx(const float* x, float* out) {
    __shared__ alignas(16) float room[32];
    __shared__ alignas(16) __half matrix[16 * 16];
    int lane = threadIdx.x;
    const float* global;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(global) : "l"(x));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, 4;" ::"r"(shared_address(room + lane)), "l"(global + lane));
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
    float copied, read, hinted;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(copied) : "r"(shared_address(room + lane)));
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.f32 %0, [%1];" : "=f"(read) : "l"(x + lane));
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(hinted) : "l"(x + lane), "l"(policy));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(x + lane));
    uint32_t bits = __float_as_uint(read), back, middle, turned, all, equal;
    asm("prmt.b32 %0, %1, %1, 0x0123;" : "=r"(back) : "r"(bits));
    asm("bfe.u32 %0, %1, 8, 8;" : "=r"(middle) : "r"(bits));
    asm("shf.l.wrap.b32 %0, %1, %1, 8;" : "=r"(turned) : "r"(bits));
    int sum, most, product;
    asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(lane));
    asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(most) : "r"(lane));
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(all) : "r"(lane));
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(equal) : "r"(lane % 2));
    asm("dp4a.s32.s32 %0, %1, %2, 5;" : "=r"(product) : "r"(0x01020304), "r"(0x01ff0201));
    // The identity, read by ldmatrix, times a matrix whose column c is c + 1.
    for (int i = lane; i < 256; i += 32) matrix[i] = i / 16 == i % 16 ? 1.0f : 0.0f;
    __syncwarp();
    uint32_t a[4], b;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(shared_address(matrix + lane % 16 * 16 + lane / 16 * 8)));
    __half2 pair = __float2half2_rn(lane / 4 + 1);
    b = *reinterpret_cast<uint32_t*>(&pair);
    float d[4];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%8}, {%9,%9,%9,%9};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "f"(0.5f));
    bool right = copied == read && hinted == read && back == __byte_perm(bits, bits, 0x0123) && middle == (bits >> 8 & 255) &&
                 turned == (bits << 8 | bits >> 24) && sum == 496 && most == 31 && all == 31 &&
                 equal == (lane % 2 ? 0xaaaaaaaau : 0x55555555u) && product == 4 + 6 - 2 + 1 + 5 &&
                 d[0] == lane % 4 * 2 + 1.5f && d[3] == lane % 4 * 2 + 2.5f;
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(out + lane), "f"(right ? read : -1.0f) : "memory");
}

static int run(int which) {
    float* room;
    RAN(cudaMalloc(&room, 4096));
    RAN(cudaMemset(room, 0, 4096));
    auto* ints = reinterpret_cast<int*>(room);
    cudaStream_t stream;
    switch (which) {
        case 0: {
            Pair it{1.5f, -2, 10.25, {1, 2, 3}};
            by_value<<<1, 1>>>(reinterpret_cast<double*>(room), it, -5);
            CHECK(fetched(reinterpret_cast<double*>(room), 1)[0] == 7.75);
            break;
        }
        case 1: {
            float host[4] = {1, 2, 3, 4};
            RAN(cudaMemcpyToSymbol(weights, host, sizeof host));
            weighted<<<1, 8>>>(room);
            CHECK(fetched(room, 8)[6] == 6.0f);
            break;
        }
        case 2: {
            count<<<2, 3>>>();
            int host = 0;
            RAN(cudaMemcpyFromSymbol(&host, counter, sizeof host));
            CHECK(host == 5 + 6 * 8);
            break;
        }
        case 3:
            recursive<<<1, 64>>>(ints);
            CHECK(fetched(ints, 64)[49] == 34 && fetched(ints, 64)[61] == 1);
            break;
        case 4:
            virtual_calls<<<1, 64>>>(ints);
            CHECK(fetched(ints, 64)[0] == 3 && fetched(ints, 64)[33] == 4);
            break;
        case 5: says<<<1, 32>>>(42); break;
        case 6:
            spins<<<1, 32>>>(ints, ints + 32);
            CHECK(fetched(ints, 64)[63] == 1);
            break;
        case 7:
            look_back<<<40, 32>>>(ints, ints + 64);
            CHECK(fetched(ints, 104)[103] == 40);
            break;
        case 8: {
            int* out = ints + 64;
            void* arguments[] = {&ints, &out};
            RAN(cudaLaunchCooperativeKernel(whole_grid, 12, 64, arguments));
            for (int it : fetched(out, 12)) CHECK(it == 78);
            break;
        }
        case 9: {
            warp_work<<<1, 64>>>(reinterpret_cast<unsigned*>(room));
            for (unsigned i = 0; i < 32; i++) {
                unsigned sum = 0;
                for (unsigned k = i / 8 * 8; k < i / 8 * 8 + 8; k++) sum += k * 3 + 1;
                unsigned up = i ? (i - 1) * 3 + 1 : 1;
                CHECK(fetched(reinterpret_cast<unsigned*>(room), 64)[i + 32] == sum * 7 + 0xaaaaaaaau % 11 + 4 + 94 + up + 1);
            }
            break;
        }
        case 10:
            votes<<<1, 64>>>(ints);
            for (int it : fetched(ints, 64)) CHECK(it == 4011);
            break;
        case 11:
            RAN(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
            dynamic<<<1, 256, 100000>>>(room);
            CHECK(fetched(room, 256)[0] == 255.0f);
            dynamic<<<1, 256, 200000>>>(room);
            CHECK(cudaGetLastError() == cudaErrorInvalidValue);
            break;
        case 12: {
            __half host[32];
            for (int i = 0; i < 32; i++) host[i] = __float2half(i / 4.0f);
            RAN(cudaMemcpy(room + 512, host, sizeof host, cudaMemcpyHostToDevice));
            halves<<<1, 32>>>(reinterpret_cast<__half*>(room), reinterpret_cast<__half*>(room + 512));
            CHECK(__half2float(fetched(reinterpret_cast<__half*>(room), 32)[6]) == 1.5f * 1.5f + 1.5f + 0.5f);
            break;
        }
        case 13:
            switched<<<1, 64>>>(ints);
            CHECK(fetched(ints, 64)[30] == (30 ^ 9) && fetched(ints, 64)[13] == 169 && fetched(ints, 64)[33] == -33);
            break;
        case 14: {  // a graph, captured and launched twice
            cudaGraph_t graph;
            cudaGraphExec_t executable;
            RAN(cudaStreamCreate(&stream));
            RAN(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
            plus_one<<<1, 32, 0, stream>>>(room);
            plus_one<<<1, 32, 0, stream>>>(room);
            RAN(cudaStreamEndCapture(stream, &graph));
            CHECK(fetched(room, 1)[0] == 0.0f);
            RAN(cudaGraphInstantiate(&executable, graph, 0));
            RAN(cudaGraphLaunch(executable, stream));
            RAN(cudaGraphLaunch(executable, stream));
            RAN(cudaStreamSynchronize(stream));
            CHECK(fetched(room, 1)[0] == 4.0f);
            break;
        }
        case 15: {  // an event orders a stream of its own
            cudaEvent_t event;
            RAN(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            RAN(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
            plus_one<<<1, 32, 0, stream>>>(room);
            RAN(cudaEventRecord(event, stream));
            plus_one<<<1, 32, 0, stream>>>(room);
            CHECK(fetched(room, 1)[0] == 0.0f);
            RAN(cudaStreamWaitEvent(nullptr, event));
            CHECK(fetched(room, 1)[0] == 1.0f);
            RAN(cudaDeviceSynchronize());
            CHECK(fetched(room, 1)[0] == 2.0f);
            break;
        }
        case 16: {  // errors, as a card gives them
            plus_one<<<0, 32>>>(room);
            CHECK(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
            plus_one<<<1, 2048>>>(room);
            CHECK(cudaGetLastError() == cudaErrorInvalidValue);
            CHECK(cudaFree(room + 4) == cudaErrorInvalidValue);
            CHECK(cudaMemcpy(room, room + 1000, 4096, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
            void* large;
            CHECK(cudaMalloc(&large, size_t{1} << 40) == cudaErrorMemoryAllocation);
            cudaGetLastError();
            plus_one<<<1, 32>>>(nullptr);
            CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress && cudaGetLastError() == cudaErrorIllegalAddress);
            CHECK(cudaMemset(room, 0, 4) == cudaErrorIllegalAddress);
            return 0;
        }
        case 17:
            RAN(cudaMemset(room, 0x11, 32 * sizeof(float)));
            inline_ptx<<<1, 32>>>(room, room + 32);
            for (int i = 0; i < 32; ++i) CHECK(fetched(room + 32, 32)[i] == fetched(room, 32)[i]);
            break;
        default: return -1;
    }
    RAN(cudaGetLastError());
    RAN(cudaFree(room));
    return 0;
}
extern "C" int grader_entry(void** a) { return run(*static_cast<int*>(a[0])); }
