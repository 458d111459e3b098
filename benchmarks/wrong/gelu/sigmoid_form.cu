// Mistake: the approximation x * sigmoid(1.702 x) is used.
// Says: (approximat|1\.702|sigmoid|exact)
__global__ void gelu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] / (1 + expf(-1.702f * x[i]));  // HERE
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) gelu<<<(n + 255) / 256, 256>>>(x, out, n);
}
