// Mistake: values outside 0..bins-1 are not ignored.
// Says: (outside|range|negative|past the end|before the beginning)
__global__ void histogram(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[x[i]], 1);  // HERE
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    cudaMemset(out, 0, bins * 4);
    if (n) histogram<<<(n + 255) / 256, 256>>>(x, out, n, bins);
}
