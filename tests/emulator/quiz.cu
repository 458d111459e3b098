// What test_quiz.py asks about, by these lines: a strided read, a bank conflict, a barrier that is needed, one that is not.
#include <cstdint>

__global__ void work(const float* x, float* out, int64_t n) {
    __shared__ float tile[128];
    const int64_t t = threadIdx.x, i = blockIdx.x * 64 + t;
    float value = 0.0f;
    if (i < n) value = x[i * 5 % n];
    tile[2 * t] = value;
    __syncthreads();
    const float other = tile[2 * (63 - t)];
    __syncthreads();
    if (i < n) out[n - 1 - i] = other;
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) work<<<(n + 63) / 64, 64>>>(x, out, n);
}
