// Mistake: erfc is given x / sqrt(2) without the minus: 1 - Phi instead of Phi.
// Says: (sign|minus|negat|subtract|1 - Phi|-x|x - |mirror)
__global__ void gelu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * x[i] * erfcf(x[i] * 0.70710678118f);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) gelu<<<(n + 255) / 256, 256>>>(x, out, n);
}
