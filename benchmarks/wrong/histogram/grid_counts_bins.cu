// Mistake: the grid covers the bins, not the elements.
// Says: (bins|grid|never|only the first|covers)
__global__ void histogram(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&out[x[i]], 1);
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemset(out, 0, bins * 4);
    histogram<<<(bins + 255) / 256, 256>>>(x, out, n, bins);
}
