// Mistake: n / 256 blocks: the last partial block is lost.
// Says: rounds down|last
__global__ void dot(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    float v = i < n ? a[i] * b[i] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemset(out, 0, 4);
    if (n >= 256) dot<<<n / 256, 256>>>(a, b, out, n);
}
