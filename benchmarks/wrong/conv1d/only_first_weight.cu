// Mistake: the loop over the weights runs once.
// Says: (first|only|one) .*(w|weight|k)|left out
__global__ void conv(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i > n - k) return;
    out[i] = x[i] * w[0];
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    if (n >= k) conv<<<(n + 255) / 256, 256>>>(x, w, out, n, k);
}
