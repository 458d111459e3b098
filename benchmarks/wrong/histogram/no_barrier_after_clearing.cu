// Mistake: no barrier between clearing the shared bins and counting into them.
// Says: __syncthreads|barrier
__global__ void count(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    extern __shared__ int32_t local[];
    for (int64_t b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0; // HERE
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&local[x[i]], 1); // HERE
    __syncthreads();
    for (int64_t b = threadIdx.x; b < bins; b += blockDim.x)
        if (local[b]) atomicAdd(&out[b], local[b]);
}
__global__ void slow(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&out[x[i]], 1);
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (!bins) return;
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t));
    if (!n) return;
    if (bins <= 8192) count<<<(n + 511) / 512, 512, bins * sizeof(int32_t)>>>(x, out, n, bins);
    else slow<<<(n + 511) / 512, 512>>>(x, out, n, bins);
}
