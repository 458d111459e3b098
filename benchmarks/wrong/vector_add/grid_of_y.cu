// Mistake: the launch has blocks along y, but the kernel counts blocks along x.
// Says: (blockIdx\.x|along y|one block|is always 0|never written)
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;  // HERE
    if (i < n) out[i] = a[i] + b[i];
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    add<<<dim3(1, (n + 255) / 256), 256>>>(a, b, out, n);  // HERE
}
