// Mistake: only the first warp's sum of each block is added; the other warps' sums are dropped.
// Says: (warp|threads? (0 to 31|below 32)|modulo 256|below 32|part of each block)
__global__ void sum(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) atomicAdd(out, v);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemset(out, 0, 4);
    if (n) sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
