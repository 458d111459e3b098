// Two passes over tiles of 1024, one element a thread; ranks within a warp by a ballot.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 1024, kTile = 1024;

__global__ void count_tiles(const float* x, int64_t* counts, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x;
    const int kept = __syncthreads_count(i < n && x[i] > 0.0f);
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

__global__ void compact_tiles(const float* x, float* out, const int64_t* ahead, int64_t n) {
    __shared__ int warps[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x;
    const float value = i < n ? x[i] : 0.0f;
    const unsigned keeping = __ballot_sync(0xffffffffu, value > 0.0f);
    if (lane == 0) warps[warp] = __popc(keeping);
    __syncthreads();
    int64_t place = ahead[blockIdx.x];
    for (int w = 0; w < warp; ++w) place += warps[w];
    if (value > 0.0f) out[place + __popc(keeping & ((1u << lane) - 1))] = value;
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
