// Each thread scans a run of 64 neighbours; then the runs' sums. A warp's accesses lie 256 bytes apart.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128, kRun = 64, kTile = kThreads * kRun;

__global__ void scan_tiles(const float* x, float* out, float* sums, int64_t n) {
    __shared__ float runs[kThreads];
    const int t = threadIdx.x;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile + t * kRun;
    float total = 0.0f;
    for (int64_t i = first; i < first + kRun && i < n; ++i) total += x[i];
    runs[t] = total;
    __syncthreads();
    if (t == 0)
        for (int r = 1; r < kThreads; ++r) runs[r] += runs[r - 1];
    __syncthreads();
    float so_far = t ? runs[t - 1] : 0.0f;
    for (int64_t i = first; i < first + kRun && i < n; ++i) out[i] = so_far += x[i];
    if (t == kThreads - 1) sums[blockIdx.x] = runs[t];
}

__global__ void add_offsets(float* out, const float* sums, int64_t n, int64_t tile) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n && i >= tile) out[i] += sums[i / tile - 1];
}

// Scans what each tile sums up to in the same way, as often as it takes.
void scan(const float* x, float* out, int64_t n) {
    const int64_t tiles = (n + kTile - 1) / kTile;
    float* sums = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&sums), tiles * sizeof(float), 0) != cudaSuccess) return;
    scan_tiles<<<static_cast<unsigned>(tiles), kThreads>>>(x, out, sums, n);
    if (tiles > 1) {
        scan(sums, sums, tiles);
        add_offsets<<<static_cast<unsigned>((n + 255) / 256), 256>>>(out, sums, n, kTile);
    }
    cudaFreeAsync(sums, 0);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) scan(x, out, n);
}
