// Mistake: negative values are multiplied by 0.01 instead of becoming 0.
// Says: 0\.01|negative
__global__ void relu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] > 0 ? x[i] : 0.01f * x[i];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) relu<<<(n + 255) / 256, 256>>>(x, out, n);
}
