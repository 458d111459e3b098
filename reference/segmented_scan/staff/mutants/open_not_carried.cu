// Mistake: adds what the tile begins with to all elements without a flag, also to those behind one.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

// Scans each tile; what it ends with goes to ends and flagged, and `open` says which elements have no flag before them.
__global__ void scan_tiles(const float* x, const uint8_t* flags, float* out, bool* open, float* ends, bool* flagged,
                           int64_t n) {
    __shared__ float sums[2][kThreads];
    __shared__ bool heads[2][kThreads];
    const int t = threadIdx.x;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + t;
    int now = 0;
    sums[0][t] = i < n ? x[i] : 0.0f;
    heads[0][t] = i < n && flags[i] != 0;
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        float sum = sums[now][t];
        bool head = heads[now][t];
        if (t >= step && !head) {
            sum += sums[now][t - step];
            head = heads[now][t - step];
        }
        sums[1 - now][t] = sum;
        heads[1 - now][t] = head;
        now = 1 - now;
        __syncthreads();
    }
    if (i < n) {
        out[i] = sums[now][t];
        open[i] = flags[i] == 0;
    }
    if (t == kThreads - 1) {
        ends[blockIdx.x] = sums[now][t];
        flagged[blockIdx.x] = heads[now][t];
    }
}

// What each tile begins with: one thread.
__global__ void scan_ends(float* ends, const bool* flagged, int64_t tiles) {
    float carry = 0.0f;
    for (int64_t tile = 0; tile < tiles; ++tile) {
        const float end = ends[tile];
        ends[tile] = carry;
        carry = flagged[tile] ? end : carry + end;
    }
}

__global__ void add_carries(float* out, const bool* open, const float* carries, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < n && open[i]) out[i] += carries[blockIdx.x];
}

extern "C" void solve(const float* x, const uint8_t* flags, float* out, int64_t n) {
    if (n == 0) return;
    const int64_t tiles = (n + kThreads - 1) / kThreads;
    const unsigned blocks = static_cast<unsigned>(tiles);
    bool *open = nullptr, *flagged = nullptr;
    float* ends = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&open), n, 0);
    cudaMallocAsync(reinterpret_cast<void**>(&flagged), tiles, 0);
    cudaMallocAsync(reinterpret_cast<void**>(&ends), tiles * sizeof(float), 0);
    scan_tiles<<<blocks, kThreads>>>(x, flags, out, open, ends, flagged, n);
    scan_ends<<<1, 1>>>(ends, flagged, tiles);
    add_carries<<<blocks, kThreads>>>(out, open, ends, n);
    cudaFreeAsync(ends, 0);
    cudaFreeAsync(flagged, 0);
    cudaFreeAsync(open, 0);
}
