// Four launches: x is read twice, places of heads go through memory, and one thread scans.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ bool is_head(const int32_t* x, int64_t i) { return i == 0 || x[i] != x[i - 1]; }

__global__ void count_heads(const int32_t* x, int64_t* begins, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    const int heads = __syncthreads_count(i < n && is_head(x, i));
    if (threadIdx.x == 0) begins[blockIdx.x] = heads;
}

// One thread: slow, and meant to be simple.
__global__ void scan(int64_t* begins, int64_t* count, int64_t blocks) {
    int64_t sum = 0;
    for (int64_t b = 0; b < blocks; ++b) {
        const int64_t own = begins[b];
        begins[b] = sum;
        sum += own;
    }
    *count = sum;
}

__global__ void write_heads(const int32_t* x, const int64_t* begins, int32_t* values, int32_t* places, int64_t n) {
    __shared__ int warps[kThreads / 32];
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool head = i < n && is_head(x, i);
    const unsigned heads = __ballot_sync(0xffffffffu, head);
    if (lane == 0) warps[warp] = __popc(heads);
    __syncthreads();
    int64_t run = begins[blockIdx.x] + __popc(heads & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) run += warps[w];
    if (head) {
        values[run] = x[i];
        places[run] = static_cast<int32_t>(i);
    }
}

__global__ void subtract(const int32_t* places, int32_t* lengths, const int64_t* count, int64_t n) {
    const int64_t run = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (run >= *count) return;
    const int64_t end = run + 1 < *count ? places[run + 1] : n;
    lengths[run] = static_cast<int32_t>(end - places[run]);
}

extern "C" void solve(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    const int64_t blocks = (n + kThreads - 1) / kThreads;
    cudaMemsetAsync(count, 0, sizeof(int64_t), 0);
    if (blocks == 0) return;
    int64_t* begins = nullptr;
    int32_t* places = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&begins), blocks * sizeof(int64_t), 0) != cudaSuccess) return;
    if (cudaMallocAsync(reinterpret_cast<void**>(&places), n * sizeof(int32_t), 0) != cudaSuccess) return;
    const unsigned grid = static_cast<unsigned>(blocks);
    count_heads<<<grid, kThreads>>>(x, begins, n);
    scan<<<1, 1>>>(begins, count, blocks);
    write_heads<<<grid, kThreads>>>(x, begins, values, places, n);
    subtract<<<grid, kThreads>>>(places, lengths, count, n);
    cudaFreeAsync(places, 0);
    cudaFreeAsync(begins, 0);
}
