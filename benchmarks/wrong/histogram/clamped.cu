// Mistake: values outside the bins are clamped into the first and the last bin.
// Says: outside|clamp|first and (the )?last|range
__global__ void histogram(const int32_t* x, int32_t* out, int64_t n, int bins) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[min(max(x[i], 0), bins - 1)], 1);
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemset(out, 0, bins * 4);
    if (n && bins) histogram<<<(n + 255) / 256, 256>>>(x, out, n, (int)bins);
}
