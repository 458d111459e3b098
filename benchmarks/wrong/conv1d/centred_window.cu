// Mistake: the window is centred on i, as with padding: x[i + t - k / 2].
// Says: (k / 2|centre|padd|too (early|late)|before|places|shift|off by)
#include <cstdint>
__global__ void conv(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n - k + 1) return;
    float s = 0;
    for (int64_t t = 0; t < k; t++) {
        int64_t at = i + t - k / 2;
        if (at >= 0 && at < n) s += x[at] * w[t];
    }
    out[i] = s;
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    if (n - k + 1 > 0) conv<<<(n - k + 256) / 256, 256>>>(x, w, out, n, k);
}
