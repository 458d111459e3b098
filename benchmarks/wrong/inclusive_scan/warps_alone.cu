// Mistake: each warp scans its 32 elements; the sums of the warps before are added only from block to block.
// Says: \b32\b ; (warp|group|tile|begins again|before)
#include <cstdint>
__global__ void scan(const float* x, float* out, float* sums, int64_t n) {
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    float v = i < n ? x[i] : 0.0f, own = v;
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(~0u, v, step);
        if (threadIdx.x % 32 >= step) v += other;
    }
    if (i < n) out[i] = v;
    atomicAdd(&sums[blockIdx.x], own);
}
__global__ void add(float* out, const float* sums, int64_t n) {
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    float before = 0;
    for (int64_t b = 0; b < blockIdx.x; b++) before += sums[b];
    if (i < n) out[i] += before;
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (!n) return;
    int64_t blocks = (n + 255) / 256;
    float* sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    cudaMemset(sums, 0, blocks * sizeof(float));
    scan<<<blocks, 256>>>(x, out, sums, n);
    add<<<blocks, 256>>>(out, sums, n);
    cudaFree(sums);
}
