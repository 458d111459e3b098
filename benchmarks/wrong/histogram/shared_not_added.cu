// Mistake: each block assigns its own counts to out instead of adding them.
// Says: (both write|another block|overwrit|adds? |atomic|writes byte)
__global__ void histogram(const int32_t* x, int32_t* out, int64_t n, int bins) {
    extern __shared__ int counts[];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&counts[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) out[b] = counts[b];  // HERE
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemset(out, 0, bins * 4);
    if (n) histogram<<<(n + 255) / 256, 256, bins * 4>>>(x, out, n, (int)bins);
}
