// Mistake: the absolute value is computed instead of max(x, 0).
// Says: (absolute|negative|fabs|sign)
__global__ void relu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = fabsf(x[i]);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) relu<<<(n + 255) / 256, 256>>>(x, out, n);
}
