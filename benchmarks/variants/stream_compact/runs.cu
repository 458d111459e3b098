// Two passes; each thread counts, then keeps, of 16 neighbours.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256, kRun = 16, kTile = kThreads * kRun;

__device__ int kept_of_run(const float* x, int64_t first, int64_t n) {
    int kept = 0;
    for (int64_t i = first; i < first + kRun && i < n; ++i) kept += x[i] > 0.0f;
    return kept;
}

__global__ void count_tiles(const float* x, int64_t* counts, int64_t n) {
    __shared__ int all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    atomicAdd(&all, kept_of_run(x, static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x * kRun, n));
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

__global__ void compact_tiles(const float* x, float* out, const int64_t* ahead, int64_t n) {
    __shared__ int runs[kThreads];
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x * kRun;
    runs[threadIdx.x] = kept_of_run(x, first, n);
    __syncthreads();
    if (threadIdx.x == 0)
        for (int r = 1; r < kThreads; ++r) runs[r] += runs[r - 1];
    __syncthreads();
    int64_t place = ahead[blockIdx.x] + (threadIdx.x ? runs[threadIdx.x - 1] : 0);
    for (int64_t i = first; i < first + kRun && i < n; ++i)
        if (x[i] > 0.0f) out[place++] = x[i];
}

__global__ void scan_counts(int64_t* counts, int64_t* count, int64_t tiles) {
    __shared__ int64_t parts[1024];
    const int t = threadIdx.x;
    const int64_t each = (tiles + 1023) / 1024, begin = t * each, end = begin + each < tiles ? begin + each : tiles;
    int64_t sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += counts[i];
    parts[t] = sum;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
        const int64_t below = t >= step ? parts[t - step] : 0;
        __syncthreads();
        parts[t] += below;
        __syncthreads();
    }
    int64_t ahead = parts[t] - sum;
    for (int64_t i = begin; i < end; ++i) {
        const int64_t own = counts[i];
        counts[i] = ahead;
        ahead += own;
    }
    if (t == 1023) *count = parts[t];
}

extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    const int64_t tiles = (n + kTile - 1) / kTile;
    int64_t* counts = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&counts), (tiles + 1) * sizeof(int64_t), 0) != cudaSuccess) return;
    if (tiles) count_tiles<<<static_cast<unsigned>(tiles), kThreads>>>(x, counts, n);
    scan_counts<<<1, 1024>>>(counts, count, tiles);
    if (tiles) compact_tiles<<<static_cast<unsigned>(tiles), kThreads>>>(x, out, counts, n);
    cudaFreeAsync(counts, 0);
}
