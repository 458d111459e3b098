// Mistake: the guard lets n outputs through, not n - k + 1.
// Says: (n - k|past the end|guard|length)
__global__ void conv(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n) return;  // HERE
    float s = 0;
    for (int64_t j = 0; j < k; j++) s += x[i + j] * w[j];  // HERE
    out[i] = s;
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    if (n >= k) conv<<<(n + 255) / 256, 256>>>(x, w, out, n, k);
}
