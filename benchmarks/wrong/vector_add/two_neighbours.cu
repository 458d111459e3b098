// Mistake: each thread adds elements i and i + 1, where it must begin at 2 * i: half of out stays unwritten.
// Says: (never written|half|covers|both write|same index) ; (2|half|from|elements)
#include <cstdint>
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
    if (i + 1 < n) out[i + 1] = a[i + 1] + b[i + 1];
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n) add<<<((n + 1) / 2 + 255) / 256, 256>>>(a, b, out, n);
}
