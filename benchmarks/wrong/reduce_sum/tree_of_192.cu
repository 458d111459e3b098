// Mistake: the tree halves 192 threads, which is no power of two: at 3 an element is lost.
// Says: (power of (2|two)|192|modulo|of each block|every third) ; (lost|left out|leaves|halv|power|not (added|counted))
__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float part[192];
    int t = threadIdx.x;
    float s = 0;
    for (int64_t i = blockIdx.x * 192LL + t; i < n; i += gridDim.x * 192LL) s += x[i];
    part[t] = s;
    __syncthreads();
    for (int step = 96; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, part[0]);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float));
    if (n) sum<<<(n + 191) / 192, 192>>>(x, out, n);
}
