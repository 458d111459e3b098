// Mistake: all lanes of a warp add the warp's total, not the first alone (__shfl_xor gives it to all).
// Says: 32 times|every thread|each thread|all threads|lanes
__global__ void sum(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    atomicAdd(out, v);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemset(out, 0, 4);
    if (n) sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
