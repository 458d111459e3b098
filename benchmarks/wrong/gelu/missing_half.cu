// Mistake: the factor 0.5 is missing.
// Says: (2 times|twice|factor|0\.5|half)
__global__ void gelu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * (1 + erff(x[i] * 0.70710678f));
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) gelu<<<(n + 255) / 256, 256>>>(x, out, n);
}
